import type { Secret } from '../units.ts'
import type { Configuration } from './schema.ts'

type Immutable<T> = T extends string | number | boolean | undefined | Secret
  ? T
  : { readonly [K in keyof T]: Immutable<T[K]> }

/** One URL of a destination. */
export interface Webhook {
  /** Its id, else its position: the label in metrics and logs, which never show a URL. */
  readonly label: string
  /** A `Secret` when it comes from a file. */
  readonly url: string | Secret
  /** First 8 hex digits of the URL's SHA-256: how a parked delivery remembers a webhook that refused it. */
  readonly urlHash: string
  /** A value that comes from a file is a `Secret`. */
  readonly headers: Readonly<Record<string, string | Secret>>
  /** Whether it is told of the trace. Nobody is unless this says so. */
  readonly traceHeaders: boolean
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
  /** Its file in `destinationsFrom` cannot be used or is missing: it is `paused`, without webhooks, until that is mended. */
  readonly isHeld?: true
  /** What this destination has in place of the installation's settings. */
  readonly policy?: DestinationPolicy
}

export interface DestinationPolicy {
  /** Undefined: as `payload.standardWebhooks`. */
  readonly standardWebhooks?: boolean | undefined
}

export interface Source {
  readonly id: string
  /** One to three: each one lets messages in. */
  readonly writeKeys: readonly Secret[]
}

/** Who may use the operator API. */
export interface OperatorKey {
  readonly name: string
  readonly role: OperatorRole
  /** Two during a rotation; both are accepted. */
  readonly secrets: readonly Secret[]
}

/** `read`: GET requests. `operate`: every request. */
export type OperatorRole = Configuration['operator']['keys'][number]['role']

export interface ListenAddress {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

/** One deadline for a whole call (A4.1), waits before the 2nd, 3rd, … attempt (may be none), caps per process. */
export type DeliverySettings = Immutable<Configuration['delivery']>

export type PayloadSettings = Immutable<Configuration['payload']>

export interface NetworkSettings {
  /** CIDR blocks that may be dialled although they are private. */
  readonly allow: readonly string[]
  /** Undefined: 80, 443, 8080, 8443 and any from 1024. */
  readonly ports: readonly number[] | undefined
  /** PEM text trusted in addition to the public roots. */
  readonly ca: string | undefined
}

export interface Credentials {
  readonly username: Secret
  readonly password: Secret
}

export type CanarySettings = Immutable<NonNullable<Configuration['canary']>>

export interface TracesSettings {
  /** Undefined: as the environment says. */
  readonly endpoint: string | undefined
  /** Of the traces that begin here, 0 to 1. */
  readonly sample: number
}

/** Files of `destinationsFrom` that cannot be used, or that are missing: an audience or the canary names their destination. */
export interface ExcludedFiles {
  readonly files: number
  /** Those of them whose destination is not known, not even by its id. */
  readonly unnamed: number
}

/** The configuration, checked and with every file that it names read in. */
export interface Settings {
  readonly kafka: {
    readonly brokers: readonly string[]
    readonly clientId: string
    /** Undefined: plain text. A `ca` is trusted instead of the public roots. */
    readonly tls:
      | { readonly ca: string | undefined; readonly cert: string | undefined; readonly key: Secret | undefined }
      | undefined
    readonly sasl: (Credentials & { readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' }) | undefined
  }
  readonly topics: Immutable<Configuration['topics']>
  readonly registry: {
    readonly url: string
    readonly auth: Credentials | undefined
    /** PEM text trusted in addition to the public roots. */
    readonly ca?: string | undefined
  }
  readonly collector: {
    readonly listen: ListenAddress
    /** Deprecated. Undefined: no operator API on the collector's listener. */
    readonly operatorKey: Secret | undefined
    readonly maxBodyBytes: number
    /** Messages a second; undefined: no limit. */
    readonly ratePerSource: number | undefined
    /** Undefined: the address of a client is that of its connection. */
    readonly clientAddressHeader: string | undefined
    readonly connectionsPerAddress: number
    /** Undefined: half of what sources with a key hold. */
    readonly bodyBytesPerAddress: number | undefined
  }
  readonly operator: { readonly keys: readonly OperatorKey[] }
  /** Undefined: no key is configured, so the operator API has no listener of its own. */
  readonly operatorListen: ListenAddress | undefined
  readonly ops: { readonly listen: ListenAddress }
  readonly log: Immutable<Configuration['log']>
  readonly network: NetworkSettings
  readonly delivery: DeliverySettings
  readonly payload: PayloadSettings
  readonly sources: readonly Source[]
  readonly destinations: readonly Destination[]
  /** Absent: every file of `destinationsFrom` is in use, and none is missing. */
  readonly excluded?: ExcludedFiles
  readonly audiences: Immutable<Configuration['audiences']>
  /** Undefined: no heartbeats. */
  readonly canary: CanarySettings | undefined
  /** Undefined: no traces. */
  readonly traces: TracesSettings | undefined
}
