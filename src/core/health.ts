import type { EpochMs } from './units.ts'

/** One thing that is checked, and what was seen. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** `live`: a restart would help where one fails. `ready`: not to be counted on (rolled on to, scaled by) where one fails. */
export interface Health {
  readonly live: readonly Check[]
  readonly ready: readonly Check[]
}

/** How recently the consumers of one or more groups were in contact with the brokers. */
export interface ConsumerVitals {
  readonly phase: 'joining' | 'joined' | 'stopping'
  /** Milliseconds since a broker last answered the consumer that has waited longest. */
  readonly silenceMs: number
  /** Milliseconds since the least active consumer last heard of a broker or tried to reach one. */
  readonly inactivityMs: number
}

export interface DispatcherVitals extends ConsumerVitals {
  /** Whether the groups confirm that the partitions are this process's: without it no attempt starts. */
  readonly isConfirmed: boolean
  /** Milliseconds since the oldest open record was admitted; 0 when none is open. */
  readonly oldestOpenMs: number
  /** Milliseconds since a call to a webhook last ended. */
  readonly sinceCallEndMs: number
  /** Whether a partition waits for the schema registry. */
  readonly isSchemaMissing: boolean
  readonly unwritableTopics: readonly string[]
  /** What is known of deleted users: how old it is, and whether that is recent enough. */
  readonly marks: { readonly isCurrent: boolean; readonly ageMs: number }
}

/**
 * A consumer hears of the broker every 0.5 s. While no broker can be reached it dials again within 15 s: a connection is tried
 * for 5 s, a request for 10 s. After this long without either its loop is stuck.
 */
const inactivityLimitMs = 60_000
/** A process that no broker has answered for this long is not ready. */
const silenceLimitMs = 60_000
/** Far beyond any attempt (5 s) and any wait in memory (10 s): a process with open records ends calls more often than that. */
const stallLimitMs = 15 * 60_000

export function dispatcherHealth(vitals: DispatcherVitals): Health {
  const { oldestOpenMs, sinceCallEndMs, unwritableTopics, marks } = vitals
  const isWritable = unwritableTopics.length === 0
  const stalledMs = Math.min(oldestOpenMs, sinceCallEndMs)
  const awaited = awaitedBy(vitals)
  return {
    live: [
      activityCheck('consumers', vitals),
      {
        name: 'progress',
        ok: stalledMs < stallLimitMs || awaited.length > 0,
        detail: `oldest open record ${Math.round(oldestOpenMs)} ms, ${
          awaited.length > 0 ? `waits for ${awaited.join(', ')}` : `no call has ended for ${Math.round(stalledMs)} ms`
        }`,
      },
    ],
    ready: [
      groupCheck('groups', vitals),
      {
        name: 'topics',
        ok: isWritable,
        detail: isWritable
          ? 'writable'
          : `not taking records: ${unwritableTopics.join(', ')}; their source offsets wait`,
      },
      {
        name: 'deletions',
        ok: marks.isCurrent,
        detail: marks.isCurrent
          ? 'known'
          : `not known for ${Math.round(marks.ageMs)} ms who was deleted: no attempt is made until it is`,
      },
    ],
  }
}

/** What open records wait for outside of the process, which a restart does not provide. */
const awaitedBy = ({ isConfirmed, isSchemaMissing, unwritableTopics, marks }: DispatcherVitals): readonly string[] => [
  ...(isConfirmed ? [] : ['the group coordinator']),
  ...(isSchemaMissing ? ['the schema registry'] : []),
  ...(marks.isCurrent ? [] : ['the suppression list']),
  ...unwritableTopics,
]

/** A consumer that cannot reach a broker tries again by itself; one that does nothing is stuck. */
const activityCheck = (name: string, { inactivityMs }: ConsumerVitals): Check => ({
  name,
  ok: inactivityMs < inactivityLimitMs,
  detail: `heard of a broker or tried to reach one ${Math.round(inactivityMs)} ms ago`,
})

function groupCheck(name: string, { phase, silenceMs }: ConsumerVitals): Check {
  const isSilent = phase === 'joined' && silenceMs >= silenceLimitMs
  const detail = isSilent ? `no broker has answered for ${Math.round(silenceMs)} ms` : phase
  return { name, ok: phase === 'joined' && !isSilent, detail }
}

export interface AudiencesVitals extends ConsumerVitals {
  /** Partitions that are ours, and how many of them have their memberships. */
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
        detail: isWritable ? 'writable' : `not taking records: ${unwritableTopics.join(', ')}; inputs wait`,
      },
    ],
  }
}

export interface CollectorVitals {
  readonly phase: 'starting' | 'listening' | 'last call' | 'stopping'
  /** For how long Kafka has acknowledged nothing of what was sent, and how long ago that last showed. */
  readonly outage: { readonly lastedMs: number; readonly seenMsAgo: number } | undefined
}

/** A broker that restarts or a new leader is there again by then; until then requests are held or told to come back. */
const outageLimitMs = 15_000
/** Without requests nothing shows whether Kafka takes messages again: after this long, requests are to try it. */
const outageForgottenMs = 30_000

export function collectorHealth({ phase, outage }: CollectorVitals): Health {
  const isOut = outage !== undefined && outage.lastedMs >= outageLimitMs && outage.seenMsAgo < outageForgottenMs
  const detail =
    outage === undefined ? 'takes messages' : `has taken no message for ${Math.round(outage.lastedMs)} ms of trying`
  return {
    live: [],
    ready: [
      { name: 'collector', ok: phase === 'listening', detail: phase },
      { name: 'kafka', ok: !isOut, detail },
    ],
  }
}

/** What was last seen of the configuration file. */
export type ConfigurationFile =
  | { readonly kind: 'accepted'; readonly needRestart: readonly string[] }
  | { readonly kind: 'refused' }

/** The last good configuration serves as well as any: a refused one is for an alert, and makes nobody less ready. */
export function configurationHealth(file: ConfigurationFile, inUseSince: EpochMs): Health {
  const since = `in use since ${new Date(inUseSince).toISOString()}`
  return { live: [], ready: [{ name: 'configuration', ok: true, detail: `${since}${remarkOn(file)}` }] }
}

function remarkOn(file: ConfigurationFile): string {
  if (file.kind === 'refused') return '; what the file says now is refused, the log says why'
  return file.needRestart.length === 0 ? '' : `; changed, and needs a restart: ${file.needRestart.join(', ')}`
}

/** What is checked of all services of one process. */
export const allHealth = (parts: readonly Health[]): Health => ({
  live: parts.flatMap(({ live }) => live),
  ready: parts.flatMap(({ ready }) => ready),
})
