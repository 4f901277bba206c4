import type { Secret } from '../secret.ts'
import type { Configuration } from './schema.ts'

type Immutable<T> = T extends string | number | boolean | undefined | Secret
  ? T
  : { readonly [K in keyof T]: Immutable<T[K]> }

/** One URL of a destination. */
export interface Webhook {
  /**
   * The id, or the position when there is no id. Metrics and logs show it instead of the URL,
   * which may contain secrets.
   */
  readonly label: string
  /** A `Secret` when it comes from a file. */
  readonly url: string | Secret
  /**
   * The first 8 hex digits of the URL's SHA-256. With it, a record in a retry topic identifies the
   * webhooks that rejected the delivery.
   */
  readonly urlHash: string
  /** A value is a `Secret` when it comes from a file. */
  readonly headers: Readonly<Record<string, string | Secret>>
  /** Whether requests contain trace headers. The default is false. */
  readonly traceHeaders: boolean
}

export interface Destination {
  readonly id: string
  readonly enabled: boolean
  /**
   * Whether the destination is paused: no requests are sent, and deliveries wait in retry topics.
   * Their retry window continues.
   */
  readonly paused: boolean
  readonly sources: readonly string[]
  /**
   * One, or two during a rotation; none when requests are unsigned. The first makes X-Signature.
   */
  readonly secrets: readonly Secret[]
  /** One to five; none while `isHeld`. */
  readonly webhooks: readonly Webhook[]
  /**
   * Set when the destination's file in `destinationsFrom` is missing or invalid. The destination is
   * then `paused` and has no webhooks until the file is fixed.
   */
  readonly isHeld?: true
  /** Settings that override the global ones for this destination. */
  readonly policy?: DestinationPolicy
}

export interface DestinationPolicy {
  /** Whether to send Standard Webhooks headers; `undefined`: as `payload.standardWebhooks` says. */
  readonly standardWebhooks?: boolean | undefined
}

export interface Source {
  readonly id: string
  /** One to three; each of them is accepted. */
  readonly writeKeys: readonly Secret[]
}

export interface OperatorKey {
  readonly name: string
  readonly role: OperatorRole
  /** One, or two during a rotation; each of them is accepted. */
  readonly secrets: readonly Secret[]
}

/** `read`: GET and HEAD requests. `operate`: all requests. */
export type OperatorRole = Configuration['operator']['keys'][number]['role']

export interface ListenAddress {
  readonly host: string
  /** Port 0 selects any free port. */
  readonly port: number
}

/** Attempts, retries and limits. The limits are per process. */
export type DeliverySettings = Immutable<Configuration['delivery']>

export type PayloadSettings = Immutable<Configuration['payload']>

export interface NetworkSettings {
  /** CIDR blocks that are allowed although they are private. */
  readonly allow: readonly string[]
  /** The allowed ports; `undefined` allows 80, 443 and all ports from 1024. */
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
  /** The OTLP/HTTP endpoint; `undefined` when the environment variables apply. */
  readonly endpoint: string | undefined
  /** Part of the traces started by Hookline that is sampled, 0 to 1. */
  readonly sample: number
}

/**
 * Counts the files of `destinationsFrom` that are invalid, or are missing although an audience or
 * the canary uses their destination.
 */
export interface ExcludedFiles {
  readonly files: number
  /** The number of these files whose destination id is unknown. */
  readonly unnamed: number
}

/** The checked configuration, with the contents of all files that it names. */
export interface Settings {
  readonly kafka: {
    readonly brokers: readonly string[]
    readonly clientId: string
    /** `undefined` when TLS is off. `ca` replaces the public roots. */
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
    /**
     * Key of the operator API at `listen`. Deprecated. `undefined` when `listen` has no operator
     * API.
     */
    readonly operatorKey: Secret | undefined
    readonly maxBodyBytes: number
    /** Messages per second; `undefined` when there is no limit. */
    readonly ratePerSource: number | undefined
    /** Header with the client's address. `undefined`: the address of the connection counts. */
    readonly clientAddressHeader: string | undefined
    readonly connectionsPerAddress: number
    /**
     * Maximum bytes of all bodies of one client address. `undefined` selects the default: half of
     * the memory for bodies with a known source.
     */
    readonly bodyBytesPerAddress: number | undefined
  }
  readonly operator: { readonly keys: readonly OperatorKey[] }
  /** Address of the operator API's own listener; `undefined` when `operator.keys` is empty. */
  readonly operatorListen: ListenAddress | undefined
  readonly ops: { readonly listen: ListenAddress }
  readonly log: Immutable<Configuration['log']>
  readonly network: NetworkSettings
  readonly delivery: DeliverySettings
  readonly payload: PayloadSettings
  readonly sources: readonly Source[]
  readonly destinations: readonly Destination[]
  /** Absent when all files of `destinationsFrom` are in use. */
  readonly excluded?: ExcludedFiles
  readonly audiences: Immutable<Configuration['audiences']>
  /** `undefined` when no canary messages are sent. */
  readonly canary: CanarySettings | undefined
  /** `undefined` when traces are off. */
  readonly traces: TracesSettings | undefined
}
