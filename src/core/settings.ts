import type { DurationMs, Secret } from './units.ts'

/** One URL of a destination. */
export interface Webhook {
  /** Its id, else its position: the label in metrics and logs, which never show a URL. */
  readonly label: string
  readonly url: string
  /** First 8 hex digits of the URL's SHA-256: how a parked delivery remembers a webhook that refused it. */
  readonly urlHash: string
  readonly headers: Readonly<Record<string, string>>
}

/** One configured instance of the webhooks destination. */
export interface Destination {
  readonly id: string
  readonly enabled: boolean
  /** Nothing is called, records wait in the retry tiers; their window runs. */
  readonly paused: boolean
  readonly sources: readonly string[]
  /** None: unsigned. Two during a rotation; the first one makes X-Signature. */
  readonly secrets: readonly Secret[]
  /** 1 to 5 (A8). */
  readonly webhooks: readonly Webhook[]
}

export interface Source {
  readonly id: string
  readonly writeKey: Secret
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export interface DeliverySettings {
  /** One deadline for a whole call (A4.1). */
  readonly timeout: DurationMs
  /** Waits before the 2nd, 3rd, … attempt; may be empty. */
  readonly schedule: readonly DurationMs[]
  /** From when the dispatcher first took an event up (A7). */
  readonly window: DurationMs
  readonly ordering: 'key' | 'none'
  readonly transport: 'got'
  /** Calls at once: per process, per webhook, per host. */
  readonly maxInFlight: number
  readonly perWebhook: number
  readonly perHost: number
}

export interface NetworkSettings {
  /** CIDR blocks that may be dialled although they are private. */
  readonly allow: readonly string[]
  /** Undefined: 80, 443, 8080, 8443 and any from 1024. */
  readonly ports: readonly number[] | undefined
  /** PEM text trusted in addition to the public roots. */
  readonly ca: string | undefined
}

export interface PayloadSettings {
  readonly userAgent: string
  readonly messageIdHeader: boolean
  readonly anonymousId: 'fallback' | 'always'
  readonly standardWebhooks: boolean
}

/** The configuration, checked and with every file that it names read in. */
export interface Settings {
  readonly kafka: {
    readonly brokers: readonly string[]
    readonly clientId: string
    readonly tls:
      | { readonly ca: string | undefined; readonly cert: string | undefined; readonly key: Secret | undefined }
      | undefined
    readonly sasl:
      | {
          readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
          readonly username: Secret
          readonly password: Secret
        }
      | undefined
  }
  readonly topics: { readonly prefix: string; readonly partitions: number; readonly replicationFactor: number }
  readonly registry: {
    readonly url: string
    readonly auth: { readonly username: Secret; readonly password: Secret } | undefined
  }
  readonly collector: {
    readonly listen: ListenAddress
    readonly operatorKey: Secret | undefined
    readonly maxBodyBytes: number
    readonly ratePerSource: number | undefined
  }
  readonly ops: { readonly listen: ListenAddress }
  readonly network: NetworkSettings
  readonly delivery: DeliverySettings
  readonly payload: PayloadSettings
  readonly sources: readonly Source[]
  readonly destinations: readonly Destination[]
  readonly audiences: {
    readonly emitPerSecond: number
    readonly list: readonly {
      readonly name: string
      readonly kind: 'audience' | 'trait'
      readonly destinations: readonly string[]
    }[]
  }
}
