import type { RequestPreview } from './test-and-preview-types.ts'

/*
 * The answers of the operator API. A field that an older operator service does not send is
 * optional. Times are ISO 8601 in UTC.
 */

/** `path` is empty if the problem concerns the whole document. */
export interface Problem {
  readonly path: string
  readonly message: string
  readonly hint?: string
}

export type Role = 'read' | 'operate'

export interface Session {
  /** Name of the operator key. */
  readonly name: string
  readonly role: Role
  readonly csrfToken: string
}

export type ObjectState = 'enabled' | 'paused' | 'disabled' | 'excluded'
export const objectStates: readonly ObjectState[] = ['enabled', 'paused', 'disabled', 'excluded']

export type JsonDocument = Readonly<Record<string, unknown>>

/** A destination or a source, with its secrets masked. */
export interface ConfigObject {
  readonly id: string
  readonly kind: 'destination' | 'source'
  readonly origin: 'file' | 'api'
  readonly version: number
  readonly state: ObjectState
  readonly conflict: boolean
  /** Set when Hookline has disabled the destination because of its `lifecycle` settings. */
  readonly disabledAutomatically?: AutomaticDisabling
  readonly changedBy?: string
  readonly changedAt?: string
  readonly problems: readonly Problem[]
  readonly document: JsonDocument
  readonly fingerprints: Readonly<Record<string, string>>
}

/** Why and when Hookline disabled a destination. Its document can still have `enabled: true`. */
export interface AutomaticDisabling {
  readonly at: string
  /**
   * `failing`: all attempts failed for the time `lifecycle.disableAfter`. `gone`: all webhooks
   * responded 410, and `lifecycle.onGone` is `disable`.
   */
  readonly reason: 'failing' | 'gone'
  readonly failingSince: string
}

export interface PageOfDestinations {
  readonly destinations: readonly ConfigObject[]
  /** The value of the query parameter `after` for the next page; absent on the last page. */
  readonly next?: string
}

export interface PageOfSources {
  readonly sources: readonly ConfigObject[]
  readonly next?: string
}

/** The answer to a change, or to a request with `dryRun=true`, which only checks the change. */
export interface ChangeResult {
  readonly dryRun?: true
  readonly changedFields?: readonly string[]
}

export interface RotatedSecret extends ConfigObject {
  readonly secret: string
  readonly rotatesAt?: string
}

export interface RotatedKey extends ConfigObject {
  readonly writeKey: string
  /** Number of write keys that are valid after the rotation. */
  readonly keys: number
}

export interface TierWaiting {
  readonly tier: string
  readonly records: number
  readonly oldestAt?: string
}

export interface GroupLag {
  readonly group: string
  readonly topics: readonly { readonly topic: string; readonly lag: number }[]
}

export interface ObjectProblems {
  readonly kind: ConfigObject['kind']
  readonly id: string
  readonly conflict: boolean
  readonly problems: readonly Problem[]
}

/**
 * Rates of the whole installation: deliveries of new events, successful deliveries, and failed
 * attempts.
 */
export interface Rates {
  readonly admittedPerSecond: number
  readonly deliveredPerSecond: number
  readonly failedPerSecond: number
}

export interface RunningProcess {
  readonly instance: string
  readonly services: readonly string[]
  readonly version: string
  readonly startedAt?: string
  readonly seenAt?: string
  /** Number of partitions of the events topic that the process owns. */
  readonly partitions?: number
}

export interface InstallationStatus {
  readonly at: string
  readonly version: string
  readonly partial?: boolean
  readonly groups: readonly GroupLag[]
  readonly waiting: readonly TierWaiting[]
  readonly destinations: Readonly<Record<ObjectState, number>>
  readonly sources: { readonly enabled: number; readonly excluded: number }
  /** At most the first 100 objects with problems. */
  readonly problems: readonly ObjectProblems[]
  /** Number of all objects with problems. */
  readonly problemCount?: number
  readonly rates?: Rates
  /** Ids of destinations with an open circuit breaker; at most the first 100. */
  readonly openBreakers?: readonly string[]
  /** Number of all destinations with an open circuit breaker. */
  readonly openBreakerCount?: number
  readonly services?: readonly RunningProcess[]
}

/** Deliveries of a destination by result, in one time span. `failed` is a number of attempts. */
export interface Results {
  readonly delivered: number
  readonly failed: number
  readonly deadLettered: number
  readonly dropped: number
}

/** One attempt at a delivery. */
export interface Attempt {
  readonly at: string
  readonly number?: number
  readonly messageId?: string
  readonly outcome: string
  readonly status?: number
  readonly durationMs?: number
  readonly decision?: string
  readonly reason?: string
  readonly webhook?: string
  /** When the next attempt after this one was due. */
  readonly dueAt?: string
}

export interface DestinationStatus {
  readonly id: string
  readonly state: ObjectState
  readonly version: number
  readonly problems: readonly Problem[]
  readonly partial?: boolean
  readonly waiting: readonly TierWaiting[]
  readonly circuitBreaker?: { readonly state: 'closed' | 'open' | 'probing'; readonly nextProbeAt?: string }
  readonly requestsInProgress?: number
  readonly inMemory?: number
  readonly results?: { readonly lastHour: Results; readonly lastDay: Results }
  /** Maximum number of attempts per second that all processes together make after a 429. */
  readonly pace?: number
  /** The end of the pause that a Retry-After of the endpoint has caused. */
  readonly pausedUntil?: string
  /** Absent when Hookline does not record or cannot read attempts. */
  readonly lastFailures?: readonly Attempt[]
}

export interface MessageDestination {
  readonly id: string
  readonly state: 'delivered' | 'waiting' | 'dead_lettered' | 'dropped' | 'unknown'
  /** Why the delivery waits, was dead-lettered or dropped, or why its state is unknown. */
  readonly reason?: string
  /**
   * Set when no record contains the state: it is inferred from offsets or from the configuration.
   */
  readonly inferred?: boolean
  readonly attempts: readonly Attempt[]
  readonly waiting?: { readonly tier: string; readonly dueAt?: string }
  readonly deadLetterKey?: string
}

export interface LogRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly at: string
  readonly kind: 'event' | 'waiting' | 'dead_letter'
  readonly destination?: string
}

/** The records of a message in Kafka, and what happened to it at each destination. */
export interface MessageTimeline {
  readonly id: string
  readonly partial?: boolean
  /** The beginning of the searched time span. */
  readonly searchedSince?: string
  readonly event?: {
    readonly sourceId: string
    readonly type: string
    readonly event?: string
    readonly receivedAt: string
    readonly position?: unknown
  }
  /** Set when Kafka's retention has deleted the event. */
  readonly eventRemoved?: boolean
  readonly records: readonly LogRecord[]
  readonly destinations: readonly MessageDestination[]
}

export interface DeadLetter {
  readonly key: string
  readonly at: string
  /** `-` if Hookline dead-lettered the event before it selected destinations. */
  readonly destination?: string
  readonly reason: string
  readonly outcome?: string
  readonly messageId?: string
  readonly sourceId?: string
  readonly type?: string
  readonly attempts?: number
  readonly position?: unknown
}

export interface PageOfDeadLetters {
  readonly deadLetters: readonly DeadLetter[]
  readonly next?: string
  readonly partial?: boolean
}

/** A dead letter with additional fields, which only the role `operate` gets. */
export interface DeadLetterDetail extends DeadLetter {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The value of an event that cannot be decoded, in base64. */
  readonly bodyBase64?: string
  /** What a replay would send now. */
  readonly replay?: RequestPreview
}

export interface DeadLetterFilters {
  readonly destination?: string
  readonly reason?: string
  readonly outcome?: string
  readonly since?: string
  readonly until?: string
  readonly message?: string
}

export interface Audience {
  readonly name: string
  readonly kind?: string | null
  readonly property?: string | null
  readonly configured?: boolean
  readonly lastSync?: { readonly syncId: number; readonly beganAt?: string } | null
  readonly destinations?: readonly {
    readonly id: string
    readonly connected?: boolean
    readonly disabled?: boolean
    readonly members?: number
    readonly acknowledged?: number
    readonly inFlight?: number
    readonly unknown?: number
    readonly different?: number
  }[]
}

export interface AudienceList {
  /** Set when the memberships are not read yet. The numbers of members are then absent. */
  readonly partial?: true
  readonly audiences: readonly Audience[]
}
