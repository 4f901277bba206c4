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

export interface DispatcherVitals {
  readonly phase: 'joining' | 'joined' | 'stopping'
  /** Milliseconds since the consumer heard least of the broker last heard of it. */
  readonly silenceMs: number
  /** Milliseconds since the record that has been open longest was taken up; 0 when none is. */
  readonly oldestOpenMs: number
  readonly unwritableTopics: readonly string[]
  /** What is known of deleted users: how old it is, and whether that is recent enough. */
  readonly marks: { readonly isCurrent: boolean; readonly ageMs: number }
}

/** A consumer hears of the broker every 0.5 s, or fails to; this long without either, its loop is stuck. */
const silenceLimitMs = 60_000
/** Far beyond any attempt (5 s) and any wait in memory (10 s): what is open so long is lost track of. */
const openRecordLimitMs = 15 * 60_000

export function dispatcherHealth(vitals: DispatcherVitals): Health {
  const { phase, silenceMs, oldestOpenMs, unwritableTopics, marks } = vitals
  const isWritable = unwritableTopics.length === 0
  return {
    live: [
      {
        name: 'consumers',
        ok: silenceMs < silenceLimitMs,
        detail: `heard of the broker ${Math.round(silenceMs)} ms ago`,
      },
      // Records wait for an unwritable topic as they should: a restart would not help them.
      {
        name: 'progress',
        ok: oldestOpenMs < openRecordLimitMs || !isWritable,
        detail: `oldest open record ${Math.round(oldestOpenMs)} ms`,
      },
    ],
    ready: [
      { name: 'groups', ok: phase === 'joined', detail: phase },
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

export interface AudiencesVitals {
  readonly phase: 'joining' | 'joined' | 'stopping'
  /** Milliseconds since the consumer last heard of the broker. */
  readonly silenceMs: number
  /** Partitions that are ours, and how many of them have their memberships. */
  readonly partitions: number
  readonly restored: number
  readonly unwritableTopics: readonly string[]
}

export function audiencesHealth({ phase, silenceMs, partitions, restored, unwritableTopics }: AudiencesVitals): Health {
  const isWritable = unwritableTopics.length === 0
  return {
    live: [
      {
        name: 'audience consumer',
        ok: silenceMs < silenceLimitMs,
        detail: `heard of the broker ${Math.round(silenceMs)} ms ago`,
      },
    ],
    ready: [
      { name: 'audience group', ok: phase === 'joined', detail: phase },
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
