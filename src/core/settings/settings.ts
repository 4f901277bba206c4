import type { TlsIdentity } from '../network/tls-identity.ts'
import type { Secret } from '../secret.ts'
import type { EpochMs } from '../time.ts'
import type { EntriesAsWritten } from './entries-as-written.ts'
import type { Configuration } from './schema-of-configuration.ts'
import type { FilterSettings } from './schema-of-event-filter.ts'

type Immutable<T> = T extends string | number | boolean | undefined | Secret
  ? T
  : { readonly [K in keyof T]: Immutable<T[K]> }

/** One URL of a destination. */
export interface Webhook {
  /**
   * The id or, without an id, the position. Metrics and logs show the label instead of the URL,
   * because the URL may contain secrets.
   */
  readonly label: string
  /** A `Secret` when it comes from a file. */
  readonly url: string | Secret
  /**
   * The first 8 hex digits of the URL's SHA-256. By this hash, a retry record identifies the
   * webhooks that rejected the delivery.
   */
  readonly urlHash: string
  /** The static headers. A value is a `Secret` when it comes from a file. */
  readonly headers: Readonly<Record<string, string | Secret>>
  /** Whether requests contain trace headers. The default is false. */
  readonly traceHeaders: boolean
}

export interface Destination {
  readonly id: string
  /**
   * When the destination was created with the operator API. Absent if this is unknown, and for a
   * destination of the configuration file.
   */
  readonly createdAt?: EpochMs
  readonly enabled: boolean
  /**
   * Whether deliveries wait in retry topics instead of being sent. Their retry window continues,
   * unless `lifecycle.pauseKeepsWindow` is set.
   */
  readonly paused: boolean
  readonly sources: readonly string[]
  /** The shared secrets: none, one, or two during a rotation. X-Signature uses only the first. */
  readonly secrets: readonly Secret[]
  /** When the second secret replaces the first; `undefined` when both stay in use. */
  readonly secretRotatesAt?: EpochMs | undefined
  /** Ed25519 private keys as text: one, or two during a rotation. */
  readonly signingKeys?: readonly Secret[]
  /** How requests authenticate, besides static headers. */
  readonly auth?: DestinationAuth | undefined
  /** One to five webhooks; none while `isPlaceholder` is set. */
  readonly webhooks: readonly Webhook[]
  /**
   * Set when the destination's file in `destinationsFrom` is missing or invalid. The destination is
   * then `paused`, without webhooks.
   */
  readonly isPlaceholder?: true
  /** Settings that override `delivery` and `payload` for this destination. */
  readonly policy?: DestinationPolicy
  readonly filter?: DestinationFilter | undefined
  /** Settings for a pause and for failing endpoints. */
  readonly lifecycle?: DestinationLifecycle
  /**
   * Set when Hookline has disabled the destination because its endpoints failed. `enabled` is then
   * false.
   */
  readonly disabledAutomatically?: AutomaticDisabling
  /** The client certificate and CAs, if any. */
  readonly tlsIdentity?: TlsIdentity | undefined
}

/** Each key that is not `undefined` overrides the same key of `delivery` or `payload`. */
export type DestinationPolicy = Immutable<Configuration['destinations'][number]['policy']>

/** An absent key has its default. */
export type DestinationLifecycle = Partial<Immutable<Configuration['destinations'][number]['lifecycle']>>

/** Times are from the brokers' clock. */
export interface AutomaticDisabling {
  readonly at: EpochMs
  /** `failing`: all attempts failed for `disableAfter`. `gone`: all webhooks responded with 410. */
  readonly reason: 'failing' | 'gone'
  readonly failingSince: EpochMs
}

export type DestinationFilter = Immutable<FilterSettings>

export interface DestinationAuth {
  readonly oauth2?: OAuth2Settings | undefined
}

/** OAuth 2.0 client credentials of a destination. */
export interface OAuth2Settings {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: Secret
  readonly clientAuthentication: 'basic' | 'post'
  readonly scopes: readonly string[]
}

export interface Source {
  readonly id: string
  /** One to three keys. The collector accepts all of them. */
  readonly writeKeys: readonly Secret[]
}

export interface OperatorKey {
  readonly name: string
  readonly role: OperatorRole
  /** One key, or two during a rotation. The operator API accepts both. */
  readonly secrets: readonly Secret[]
}

/** `read` permits GET and HEAD requests, `operate` all requests. */
export type OperatorRole = Configuration['operator']['keys'][number]['role']

export interface ListenAddress {
  readonly host: string
  /** Port 0 selects any free port. */
  readonly port: number
}

/** Settings of attempts and retries, and the limits of each process. */
export type DeliverySettings = Immutable<Configuration['delivery']>

export type PayloadSettings = Immutable<Configuration['payload']>

export interface NetworkSettings {
  /** Blocks of permitted private addresses, in CIDR notation. */
  readonly allow: readonly string[]
  /** The allowed ports; `undefined` allows 80, 443 and all ports from 1024. */
  readonly ports: readonly number[] | undefined
  /**
   * Whether webhook and token URLs must begin with https://. `httpsUrls` checks this, so transports
   * do not check it again.
   */
  readonly httpsOnly?: boolean
  /** CA certificates in PEM, trusted in addition to the public CAs. */
  readonly ca: string | undefined
  /** The proxy for requests; `undefined` when Hookline connects directly. */
  readonly proxy?: ProxySettings | undefined
}

export interface ProxySettings {
  readonly url: string
  readonly credentials: Credentials | undefined
  readonly noProxy: readonly string[]
  /**
   * `local`: Hookline resolves host names and checks the addresses. `proxy`: the proxy resolves
   * them, and must refuse private addresses itself.
   */
  readonly resolve: 'local' | 'proxy'
}

export interface Credentials {
  readonly username: Secret
  readonly password: Secret
}

export type CanarySettings = Immutable<NonNullable<Configuration['canary']>>

export type NoticesSettings = Immutable<NonNullable<Configuration['notices']>>

export interface TracesSettings {
  /** The OTLP/HTTP endpoint; `undefined` if environment variables of OpenTelemetry name it. */
  readonly endpoint: string | undefined
  /** The share of sampled traces among those that Hookline starts, from 0 to 1. */
  readonly sample: number
}

/**
 * Counts the files of `destinationsFrom` that are invalid, or that are missing although an
 * audience, `canary` or `notices` names their destination. A directory that cannot be listed counts
 * as one file.
 */
export interface ExcludedFiles {
  readonly files: number
  /** The number of excluded files whose destination id is unknown. */
  readonly unnamed: number
}

/** The checked configuration, with the contents of all files that it names. */
export interface Settings {
  readonly kafka: {
    readonly brokers: readonly string[]
    readonly clientId: string
    /** `undefined` when TLS is off. `ca` replaces the public CAs. */
    readonly tls:
      | { readonly ca: string | undefined; readonly cert: string | undefined; readonly key: Secret | undefined }
      | undefined
    readonly sasl: (Credentials & { readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' }) | undefined
  }
  readonly topics: Immutable<Configuration['topics']>
  readonly registry: {
    readonly url: string
    readonly auth: Credentials | undefined
    /** CA certificates in PEM, trusted in addition to the public CAs. */
    readonly ca?: string | undefined
  }
  readonly collector: {
    readonly listen: ListenAddress
    /**
     * Deprecated: the key of the operator API at the collector's address. Without the key, this
     * address has no operator API.
     */
    readonly operatorKey: Secret | undefined
    readonly maxBodyBytes: number
    /** Maximum messages per second that one process accepts from one source. */
    readonly ratePerSource: number | undefined
    /**
     * The header with the client's address. If `undefined`, Hookline uses the address of the
     * connection.
     */
    readonly clientAddressHeader: string | undefined
    readonly connectionsPerAddress: number
    /**
     * Maximum bytes in memory for the requests of one client address. Default: half of the bytes
     * that all requests with a known write key may use together.
     */
    readonly bodyBytesPerAddress: number | undefined
  }
  readonly operator: {
    readonly keys: readonly OperatorKey[]
    /** One or two keys. Hookline encrypts with the first. Absent without a config topic. */
    readonly encryptionKeys?: readonly Secret[]
  }
  /** Address of the operator API and the console; `undefined` without operator keys. */
  readonly operatorListen: ListenAddress | undefined
  /** Whether the installation has a config topic: `operator.encryptionKeyFile` is set. */
  readonly configTopic?: true
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
  /** `undefined` if Hookline sends no canary messages. */
  readonly canary: CanarySettings | undefined
  /** The settings of notices; absent when none are sent. */
  readonly notices?: NoticesSettings
  /** The settings of traces; `undefined` when tracing is off. */
  readonly traces: TracesSettings | undefined
  /**
   * The sources and destinations as written in the file. Present with operator keys or a config
   * topic.
   */
  readonly entriesAsWritten?: EntriesAsWritten
}
