import type { TlsIdentity } from '../network/tls-identity.ts'
import type { Secret } from '../secret.ts'
import type { EpochMs } from '../time.ts'
import type { FilterSettings } from './destination-filter.ts'
import type { GivenEntries } from './entries-as-written.ts'
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
  /** The URL to which events are sent. It is a `Secret` when it comes from a file. */
  readonly url: string | Secret
  /**
   * The first 8 hex digits of the URL's SHA-256. With it, a record in a retry topic identifies the
   * webhooks that rejected the delivery.
   */
  readonly urlHash: string
  /** The static headers of requests. A value is a `Secret` when it comes from a file. */
  readonly headers: Readonly<Record<string, string | Secret>>
  /** Whether requests contain trace headers. The default is false. */
  readonly traceHeaders: boolean
}

export interface Destination {
  readonly id: string
  readonly enabled: boolean
  /**
   * Whether the destination is paused: no requests are sent, and deliveries wait in retry topics.
   * Their retry window continues, unless `lifecycle.pauseKeepsWindow` is set.
   */
  readonly paused: boolean
  readonly sources: readonly string[]
  /**
   * The shared secrets: one, or two during a rotation. None when no shared secret signs requests.
   * X-Signature uses only the first one.
   */
  readonly secrets: readonly Secret[]
  /** When the second secret replaces the first; `undefined` when both stay in use. */
  readonly secretRotatesAt?: EpochMs | undefined
  /** Ed25519 private keys as text: one, or two during a rotation. Absent or empty: none. */
  readonly signingKeys?: readonly Secret[]
  /**
   * How requests authenticate at the endpoints, apart from static headers; `undefined` if static
   * headers are enough.
   */
  readonly auth?: DestinationAuth | undefined
  /** The one to five webhooks of the destination; empty while `isHeld` is set. */
  readonly webhooks: readonly Webhook[]
  /**
   * Set when the destination's file in `destinationsFrom` is missing or invalid. The destination is
   * then `paused` and has no webhooks until the file is fixed.
   */
  readonly isHeld?: true
  /** Settings that override `delivery` and `payload` for this destination. */
  readonly policy?: DestinationPolicy
  /** Which events of its sources the destination gets; `undefined`: all. */
  readonly filter?: DestinationFilter | undefined
  /** Settings for a pause and for failing endpoints. Absent: the defaults. */
  readonly lifecycle?: DestinationLifecycle
  /**
   * Set when Hookline has disabled the destination because its endpoints failed or are gone.
   * `enabled` is then false.
   */
  readonly disabledAutomatically?: AutomaticDisabling
  /** The client certificate and CAs of the destination; `undefined` when it has neither. */
  readonly tlsIdentity?: TlsIdentity | undefined
}

/**
 * Settings that override `delivery` and `payload` for one destination. A key that is `undefined`
 * overrides nothing.
 */
export type DestinationPolicy = Immutable<Configuration['destinations'][number]['policy']>

/** Settings for a pause and for failing endpoints. An absent key has its default. */
export type DestinationLifecycle = Partial<Immutable<Configuration['destinations'][number]['lifecycle']>>

/** Why and when Hookline has disabled a destination. Times are from the brokers' clock. */
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
  /** The write keys, one to three. Each of them is accepted. */
  readonly writeKeys: readonly Secret[]
}

export interface OperatorKey {
  readonly name: string
  readonly role: OperatorRole
  /** The secrets of the key: one, or two during a rotation. Each of them is accepted. */
  readonly secrets: readonly Secret[]
}

/**
 * The role of an operator key. `read` permits GET and HEAD requests, `operate` permits all
 * requests.
 */
export type OperatorRole = Configuration['operator']['keys'][number]['role']

export interface ListenAddress {
  readonly host: string
  /** Port 0 selects any free port. */
  readonly port: number
}

/** The settings of `delivery`: attempts, retries and limits. The limits are per process. */
export type DeliverySettings = Immutable<Configuration['delivery']>

export type PayloadSettings = Immutable<Configuration['payload']>

export interface NetworkSettings {
  /** Blocks of private addresses to which requests are permitted, in CIDR notation. */
  readonly allow: readonly string[]
  /** The allowed ports; `undefined` allows 80, 443 and all ports from 1024. */
  readonly ports: readonly number[] | undefined
  /**
   * Whether every webhook URL and token URL must begin with https://. The configuration is checked
   * for this (`httpsUrls`), so that transports need not check it.
   */
  readonly httpsOnly?: boolean
  /** CA certificates in PEM that are trusted in addition to the public CAs. */
  readonly ca: string | undefined
  /** The proxy for requests; `undefined` when Hookline connects directly. */
  readonly proxy?: ProxySettings | undefined
}

/** The proxy for all requests to webhooks and to token endpoints. */
export interface ProxySettings {
  readonly url: string
  /** The user name and password for the proxy; `undefined` when the proxy needs none. */
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
  /** The OTLP/HTTP endpoint; `undefined` when OpenTelemetry's environment variables name it. */
  readonly endpoint: string | undefined
  /** The share, from 0 to 1, of the traces started by Hookline that are sampled. */
  readonly sample: number
}

/**
 * The numbers of files of `destinationsFrom` that are not in use. A file is not in use if it is
 * invalid, or if it is missing although an audience, the canary or the notices use its destination.
 * A directory that cannot be listed counts as one file.
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
    /**
     * The TLS settings of the connections to Kafka; `undefined` when TLS is off. `ca` replaces the
     * public CAs.
     */
    readonly tls:
      | { readonly ca: string | undefined; readonly cert: string | undefined; readonly key: Secret | undefined }
      | undefined
    readonly sasl: (Credentials & { readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' }) | undefined
  }
  readonly topics: Immutable<Configuration['topics']>
  readonly registry: {
    readonly url: string
    readonly auth: Credentials | undefined
    /** CA certificates in PEM that are trusted in addition to the public CAs. */
    readonly ca?: string | undefined
  }
  readonly collector: {
    readonly listen: ListenAddress
    /**
     * Deprecated: the key of the operator API at the collector's address (`listen`). `undefined`
     * when this address has no operator API.
     */
    readonly operatorKey: Secret | undefined
    readonly maxBodyBytes: number
    /**
     * Maximum messages per second that one process accepts from one source; `undefined` when there
     * is no limit.
     */
    readonly ratePerSource: number | undefined
    /**
     * The header with the client's address. `undefined`: Hookline uses the address of the
     * connection.
     */
    readonly clientAddressHeader: string | undefined
    readonly connectionsPerAddress: number
    /**
     * Maximum memory, in bytes, that one process uses for the requests in progress of one client
     * address: their bodies, rejected messages and responses. `undefined` selects the default: half
     * of the memory for requests with a known write key.
     */
    readonly bodyBytesPerAddress: number | undefined
  }
  readonly operator: {
    readonly keys: readonly OperatorKey[]
    /**
     * The contents of `operator.encryptionKeyFile`: one or two keys, without the last line end. The
     * first key encrypts. Absent without a config topic.
     */
    readonly encryptionKeys?: readonly Secret[]
  }
  /** Address of the operator API and the console; `undefined` when `operator.keys` is empty. */
  readonly operatorListen: ListenAddress | undefined
  /** Whether the installation has a config topic. It has one with `operator.encryptionKeyFile`. */
  readonly configTopic?: true
  readonly ops: { readonly listen: ListenAddress }
  readonly log: Immutable<Configuration['log']>
  readonly network: NetworkSettings
  readonly delivery: DeliverySettings
  readonly payload: PayloadSettings
  readonly sources: readonly Source[]
  readonly destinations: readonly Destination[]
  /**
   * The numbers of files that are not in use. Absent when all files of `destinationsFrom` are in
   * use.
   */
  readonly excluded?: ExcludedFiles
  readonly audiences: Immutable<Configuration['audiences']>
  /** The settings of canary messages; `undefined` when none are sent. */
  readonly canary: CanarySettings | undefined
  /** The settings of notices; absent when none are sent. */
  readonly notices?: NoticesSettings
  /** The settings of traces; `undefined` when tracing is off. */
  readonly traces: TracesSettings | undefined
  /**
   * The sources and destinations as they are written in the file. Present if operator keys or a
   * config topic are configured.
   */
  readonly given?: GivenEntries
}
