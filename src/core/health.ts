import type { EpochMs } from './units.ts'

/** The result of one health check. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/**
 * The checks behind /livez and /readyz. `live`: a restart helps when one of them fails. `ready`:
 * when one of them fails, a rolling update waits and Kubernetes sends no traffic to the process.
 */
export interface Health {
  readonly live: readonly Check[]
  readonly ready: readonly Check[]
}

/** How recently the consumers of one or more groups had contact with the brokers. */
export interface ConsumerVitals {
  readonly phase: 'joining' | 'joined' | 'stopping'
  /** Milliseconds since a broker last responded, for the consumer that has waited longest. */
  readonly silenceMs: number
  /** Milliseconds since the least active consumer last had a response or tried to connect. */
  readonly inactivityMs: number
}

export interface DispatcherVitals extends ConsumerVitals {
  /** Whether the groups confirm this process's assignments. Without this no attempt starts. */
  readonly holdsLease: boolean
  /** Milliseconds since the oldest record in progress was admitted; 0 when there is none. */
  readonly oldestOpenMs: number
  /** Milliseconds since the last request to a webhook ended. */
  readonly sinceCallEndMs: number
  /** Whether a partition waits for a schema from the registry. */
  readonly isSchemaMissing: boolean
  readonly unwritableTopics: readonly string[]
  /** The age of the suppression list, and whether it is recent enough to start attempts. */
  readonly suppressionList: { readonly isCurrent: boolean; readonly ageMs: number }
}

/**
 * Limit of the time without activity, after which the consumer's loop is stuck. A working consumer
 * hears from the broker every 0.5 s. Without a reachable broker it tries again within 15 s: a
 * connection attempt takes up to 5 s, a request up to 10 s.
 */
const inactivityLimitMs = 60_000
/** After this long without a response from any broker, a process is not ready. */
const silenceLimitMs = 60_000
/**
 * A process with records in progress ends requests much more often than this: an attempt takes up
 * to 5 s, a wait in memory up to 10 s.
 */
const stallLimitMs = 15 * 60_000

export function dispatcherHealth(vitals: DispatcherVitals): Health {
  const { oldestOpenMs, sinceCallEndMs, unwritableTopics, suppressionList } = vitals
  const isWritable = unwritableTopics.length === 0
  const stalledMs = Math.min(oldestOpenMs, sinceCallEndMs)
  const awaited = awaitedBy(vitals)
  const state =
    awaited.length > 0 ? `waits for ${awaited.join(', ')}` : `no request has ended for ${Math.round(stalledMs)} ms`
  return {
    live: [
      activityCheck('consumers', vitals),
      {
        name: 'progress',
        ok: stalledMs < stallLimitMs || awaited.length > 0,
        detail: `oldest record in progress: ${Math.round(oldestOpenMs)} ms, ${state}`,
      },
    ],
    ready: [
      groupCheck('groups', vitals),
      {
        name: 'topics',
        ok: isWritable,
        detail: isWritable
          ? 'writable'
          : `writes fail: ${unwritableTopics.join(', ')}; source offsets are not committed until they succeed`,
      },
      {
        name: 'deletions',
        ok: suppressionList.isCurrent,
        detail: suppressionList.isCurrent
          ? 'suppression list is current'
          : `suppression list is ${Math.round(suppressionList.ageMs)} ms old; no attempt starts until it is current`,
      },
    ],
  }
}

/** What the records in progress wait for outside this process. A restart does not help then. */
const awaitedBy = ({
  holdsLease,
  isSchemaMissing,
  unwritableTopics,
  suppressionList,
}: DispatcherVitals): readonly string[] => [
  ...(holdsLease ? [] : ['the group coordinator']),
  ...(isSchemaMissing ? ['the schema registry'] : []),
  ...(suppressionList.isCurrent ? [] : ['the suppression list']),
  ...unwritableTopics,
]

/**
 * A consumer that cannot reach a broker still tries to connect. Without any activity its loop is
 * stuck.
 */
const activityCheck = (name: string, { inactivityMs }: ConsumerVitals): Check => ({
  name,
  ok: inactivityMs < inactivityLimitMs,
  detail: `last response from a broker or attempt to connect ${Math.round(inactivityMs)} ms ago`,
})

function groupCheck(name: string, { phase, silenceMs }: ConsumerVitals): Check {
  const isSilent = phase === 'joined' && silenceMs >= silenceLimitMs
  const detail = isSilent ? `no response from a broker for ${Math.round(silenceMs)} ms` : phase
  return { name, ok: phase === 'joined' && !isSilent, detail }
}

export interface AudiencesVitals extends ConsumerVitals {
  /** The number of assigned partitions, and of those whose memberships are loaded. */
  readonly partitions: number
  readonly restored: number
  readonly unwritableTopics: readonly string[]
}

export function audiencesHealth(vitals: AudiencesVitals): Health {
  const { partitions, restored, unwritableTopics } = vitals
  const isWritable = unwritableTopics.length === 0
  return {
    live: [activityCheck('audience consumer', vitals)],
    ready: [
      groupCheck('audience group', vitals),
      { name: 'memberships', ok: restored === partitions, detail: `${restored} of ${partitions} partitions restored` },
      {
        name: 'audience topics',
        ok: isWritable,
        detail: isWritable ? 'writable' : `writes fail: ${unwritableTopics.join(', ')}; inputs wait until they succeed`,
      },
    ],
  }
}

export interface CollectorVitals {
  readonly phase: 'starting' | 'listening' | 'draining' | 'stopping'
  /**
   * How long Kafka has acknowledged no record, and how long ago the last append failed. `undefined`
   * when appends succeed.
   */
  readonly outage: { readonly lastedMs: number; readonly seenMsAgo: number } | undefined
}

/**
 * A restarted broker or a new leader responds within this time. Until then the collector holds
 * requests or asks clients to retry.
 */
const outageLimitMs = 15_000
/**
 * An outage is forgotten after this long without a failed append. Then the collector is ready
 * again, because only new requests can show whether Kafka accepts messages.
 */
const outageForgottenMs = 30_000

export function collectorHealth({ phase, outage }: CollectorVitals): Health {
  const isOut = outage !== undefined && outage.lastedMs >= outageLimitMs && outage.seenMsAgo < outageForgottenMs
  const detail =
    outage === undefined ? 'accepts messages' : `has accepted no message for ${Math.round(outage.lastedMs)} ms`
  return {
    live: [],
    ready: [
      { name: 'collector', ok: phase === 'listening', detail: phase },
      { name: 'kafka', ok: !isOut, detail },
    ],
  }
}

/** The state of the configuration file when it was last read. */
export type ConfigurationFile =
  | { readonly kind: 'accepted'; readonly needRestart: readonly string[] }
  | { readonly kind: 'refused' }

/**
 * Reports the configuration; the check never fails. With a refused file the process continues with
 * the last valid configuration, and an alert reports the file.
 */
export function configurationHealth(file: ConfigurationFile, inUseSince: EpochMs): Health {
  const since = `in use since ${new Date(inUseSince).toISOString()}`
  return { live: [], ready: [{ name: 'configuration', ok: true, detail: `${since}${remarkOn(file)}` }] }
}

function remarkOn(file: ConfigurationFile): string {
  if (file.kind === 'refused') return '; the changed file is refused, see the log'
  return file.needRestart.length === 0 ? '' : `; changes that need a restart: ${file.needRestart.join(', ')}`
}

/** The checks of all services of one process. */
export const allHealth = (parts: readonly Health[]): Health => ({
  live: parts.flatMap(({ live }) => live),
  ready: parts.flatMap(({ ready }) => ready),
})
