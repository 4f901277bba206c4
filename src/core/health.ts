import type { EpochMs } from './time.ts'

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

/** When the consumers of one or more groups last had contact with the brokers. */
export interface ConsumerVitals {
  readonly phase: 'joining' | 'joined' | 'stopping'
  /** Milliseconds since a broker last responded: the longest time of all consumers. */
  readonly silenceMs: number
  /**
   * Milliseconds since a consumer last got a response or tried to connect: the longest time of all
   * consumers.
   */
  readonly inactivityMs: number
}

export interface DispatcherVitals extends ConsumerVitals {
  /**
   * Whether this process holds the session lease in all its groups. In a group without the lease,
   * no attempt starts.
   */
  readonly holdsLease: boolean
  /** Milliseconds since the oldest record in progress was admitted; 0 when there is none. */
  readonly oldestOpenMs: number
  /** Milliseconds since the last request to a webhook ended; `Infinity` before the first one. */
  readonly sinceCallEndMs: number
  /** Whether a partition waits for a schema from the registry. */
  readonly isSchemaMissing: boolean
  readonly unwritableTopics: readonly string[]
  /** The age of the suppression list in milliseconds, and whether attempts may start with it. */
  readonly suppressionList: { readonly isCurrent: boolean; readonly ageMs: number }
}

/**
 * Milliseconds without activity after which the loop of a consumer counts as stuck. A working
 * consumer gets a response from the broker every 0.5 s. If no broker can be reached, it tries again
 * within 15 s: a connection attempt takes up to 5 s, a request up to 10 s.
 */
const inactivityLimitMs = 60_000
/** Milliseconds without a response from any broker after which the process is not ready. */
const silenceLimitMs = 60_000
/**
 * Milliseconds without the end of a request after which a process with records in progress counts
 * as stuck. An attempt takes only up to 5 s, and a wait in memory up to 10 s.
 */
const stallLimitMs = 15 * 60_000

export function dispatcherHealth(vitals: DispatcherVitals): Health {
  const { oldestOpenMs, sinceCallEndMs, unwritableTopics, suppressionList } = vitals
  const isWritable = unwritableTopics.length === 0
  const stalledMs = Math.min(oldestOpenMs, sinceCallEndMs)
  const awaited = awaitedBy(vitals)
  const state =
    awaited.length > 0
      ? `waits for ${awaited.join(', ')}`
      : `no webhook request ended for ${secondsOf(stalledMs)} while a record was in progress (limit: ${secondsOf(stallLimitMs)})`
  return {
    live: [
      activityCheck('consumers', vitals),
      {
        name: 'progress',
        ok: stalledMs < stallLimitMs || awaited.length > 0,
        detail: `oldest record in progress: ${secondsOf(oldestOpenMs)}; ${state}`,
      },
    ],
    ready: [
      groupCheck('groups', vitals),
      {
        name: 'topics',
        ok: isWritable,
        detail: isWritable
          ? 'writable'
          : `writes fail: ${unwritableTopics.join(', ')}; Hookline repeats them, and until they succeed it does not commit the offsets of the records that it was processing`,
      },
      {
        name: 'deletions',
        ok: suppressionList.isCurrent,
        detail: suppressionDetail(suppressionList),
      },
    ],
  }
}

function suppressionDetail({ isCurrent, ageMs }: DispatcherVitals['suppressionList']): string {
  if (isCurrent) return 'suppression list is current'
  const state = Number.isFinite(ageMs) ? `is ${Math.round(ageMs)} ms old` : 'has not been read yet'
  return `suppression list ${state}; no attempt starts until it is current`
}

const secondsOf = (ms: number): string => `${Math.round(ms / 1_000)} s`

/**
 * Lists what the records in progress wait for outside this process. While the list is not empty, a
 * restart does not help.
 */
const awaitedBy = ({
  holdsLease,
  isSchemaMissing,
  unwritableTopics,
  suppressionList,
}: DispatcherVitals): readonly string[] => [
  ...(holdsLease ? [] : ['the group coordinator']),
  ...(isSchemaMissing ? ['the schema registry'] : []),
  ...(suppressionList.isCurrent ? [] : ['the suppression list']),
  ...unwritableTopics.map(topic => `successful writes to ${topic}`),
]

/**
 * A consumer that cannot reach a broker still tries to connect, which counts as activity. A
 * consumer without any activity is stuck, and only a restart helps.
 */
const activityCheck = (name: string, { inactivityMs }: ConsumerVitals): Check => ({
  name,
  ok: inactivityMs < inactivityLimitMs,
  detail: `last response from a broker, or last attempt to connect: ${Math.round(inactivityMs)} ms ago`,
})

function groupCheck(name: string, { phase, silenceMs }: ConsumerVitals): Check {
  const isSilent = phase === 'joined' && silenceMs >= silenceLimitMs
  const detail = isSilent ? `no response from a broker for ${Math.round(silenceMs)} ms` : phase
  return { name, ok: phase === 'joined' && !isSilent, detail }
}

export interface AudiencesVitals extends ConsumerVitals {
  /** The number of assigned partitions. */
  readonly partitions: number
  /** The number of assigned partitions whose memberships are loaded. */
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
        detail: isWritable
          ? 'writable'
          : `writes fail: ${unwritableTopics.join(', ')}; audience inputs wait until the writes succeed`,
      },
    ],
  }
}

export interface CollectorVitals {
  readonly phase: 'starting' | 'listening' | 'draining' | 'stopping'
  /**
   * How long Kafka has acknowledged no record, and how long ago the last append failed, both in
   * milliseconds. `undefined` when appends succeed.
   */
  readonly outage: { readonly lastedMs: number; readonly seenMsAgo: number } | undefined
}

/**
 * Milliseconds of an outage after which the collector is not ready. The restart of a broker or the
 * change of a leader takes less time, in which the collector holds requests or asks clients to
 * retry.
 */
const outageLimitMs = 15_000
/**
 * Milliseconds after the last failed append until the collector is ready again, even without an
 * acknowledgement. While it is not ready it gets no requests, and only these can show whether Kafka
 * accepts messages again.
 */
const outageForgottenMs = 30_000

export function collectorHealth({ phase, outage }: CollectorVitals): Health {
  const isOut = outage !== undefined && outage.lastedMs >= outageLimitMs && outage.seenMsAgo < outageForgottenMs
  const detail =
    outage === undefined ? 'accepts messages' : `has acknowledged no message for ${Math.round(outage.lastedMs)} ms`
  return {
    live: [],
    ready: [
      { name: 'collector', ok: phase === 'listening', detail: phase },
      { name: 'kafka', ok: !isOut, detail },
    ],
  }
}

/** The state of the listener of the operator API; `off` while `operator.keys` has no key. */
export type OperatorPhase = 'starting' | 'listening' | 'stopping' | 'off'

/**
 * Reports whether the operator API accepts requests. Without a key nothing listens, which is not a
 * failure: a process that runs all services does not need an operator key.
 */
export const operatorHealth = (phase: OperatorPhase): Health => ({
  live: [],
  ready: [
    {
      name: 'operator',
      ok: phase === 'listening' || phase === 'off',
      detail: phase === 'off' ? 'does not listen, because operator.keys has no key' : phase,
    },
  ],
})

/** The state of the configuration file when it was last read. */
export type ReloadState =
  | { readonly kind: 'accepted'; readonly needRestart: readonly string[] }
  | { readonly kind: 'refused' }

/**
 * Reports since when the configuration has been in use. The check never fails: with a refused file
 * the process continues with the last valid configuration, and an alert reports the file.
 */
export function configurationHealth(file: ReloadState, inUseSince: EpochMs): Health {
  const since = `in use since ${new Date(inUseSince).toISOString()}`
  return { live: [], ready: [{ name: 'configuration', ok: true, detail: `${since}${remarkOn(file)}` }] }
}

function remarkOn(file: ReloadState): string {
  if (file.kind === 'refused') return '; Hookline refused the changed file, see the log'
  return file.needRestart.length === 0 ? '' : `; changes that need a restart: ${file.needRestart.join(', ')}`
}

export const allHealth = (parts: readonly Health[]): Health => ({
  live: parts.flatMap(({ live }) => live),
  ready: parts.flatMap(({ ready }) => ready),
})
