import type { EpochMs } from './time.ts'

export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/**
 * The checks behind /livez and /readyz. If a `live` check fails, a restart helps. While a `ready`
 * check fails, the process gets no traffic.
 */
export interface Health {
  readonly live: readonly Check[]
  readonly ready: readonly Check[]
}

export interface ConsumerVitals {
  readonly phase: 'joining' | 'joined' | 'stopping'
  /**
   * Milliseconds since a broker last responded to a consumer. With several consumers, the longest
   * of these times.
   */
  readonly silenceMs: number
  /**
   * Milliseconds since a consumer last got a response or tried to connect. With several consumers,
   * the longest of these times.
   */
  readonly inactivityMs: number
}

export interface DispatcherVitals extends ConsumerVitals {
  /**
   * Whether all group coordinators have recently confirmed this process's membership (the session
   * lease). For records of a consumer group without this confirmation, no attempt starts.
   */
  readonly holdsLease: boolean
  /**
   * Milliseconds since the dispatcher began to process the oldest record in progress; 0 for none.
   */
  readonly oldestInProgressMs: number
  /** Milliseconds since the last request to a webhook ended; `Infinity` before the first one. */
  readonly sinceLastRequestEndMs: number
  readonly isSchemaMissing: boolean
  readonly unwritableTopics: readonly string[]
  /**
   * The suppression list (the deletions of users). `isCurrent`: whether it is current enough for
   * attempts to start.
   */
  readonly suppressionList: { readonly isCurrent: boolean; readonly ageMs: number }
}

/**
 * Time without activity after which the loop of a consumer counts as stuck. A consumer that reaches
 * no broker tries again within 15 s.
 */
const inactivityLimitMs = 60_000
/** Milliseconds without a response from any broker after which the process is not ready. */
const silenceLimitMs = 60_000
/**
 * If records are in progress but no webhook request ends for this time, the process counts as
 * stuck.
 */
const stallLimitMs = 15 * 60_000

export function dispatcherHealth(vitals: DispatcherVitals): Health {
  const { oldestInProgressMs, sinceLastRequestEndMs, unwritableTopics, suppressionList } = vitals
  const isWritable = unwritableTopics.length === 0
  const stalledMs = Math.min(oldestInProgressMs, sinceLastRequestEndMs)
  const awaited = awaitedBy(vitals)
  const state =
    awaited.length > 0
      ? `the process waits for ${awaited.join(', ')}`
      : `no webhook request ended in the last ${secondsOf(stalledMs)} (limit: ${secondsOf(stallLimitMs)})`
  return {
    live: [
      activityCheck('consumers', vitals),
      {
        name: 'progress',
        ok: stalledMs < stallLimitMs || awaited.length > 0,
        detail: `the oldest record has been in progress for ${secondsOf(oldestInProgressMs)}; ${state}`,
      },
    ],
    ready: [
      groupCheck('groups', vitals),
      {
        name: 'topics',
        ok: isWritable,
        detail: isWritable
          ? 'writes to all topics succeed'
          : `writes to ${unwritableTopics.join(', ')} fail; Hookline repeats the writes, and does not commit the offsets of the affected records until the writes succeed`,
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
  if (isCurrent) return 'the suppression list (deleted users) is current'
  const state = Number.isFinite(ageMs) ? `is ${Math.round(ageMs)} ms out of date` : 'has not been read yet'
  return `the suppression list (deleted users) ${state}; no delivery attempt starts until this process has read all deletions`
}

const secondsOf = (ms: number): string => `${Math.round(ms / 1_000)} s`

/**
 * Returns what the records in progress wait for, if it is outside of this process. A restart does
 * not end this wait.
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
 * Fails when a consumer has had no activity for too long: then only a restart helps. A consumer
 * that reaches no broker is still active, because it tries to connect.
 */
const activityCheck = (name: string, { inactivityMs }: ConsumerVitals): Check => ({
  name,
  ok: inactivityMs < inactivityLimitMs,
  detail: `the last broker response or connection attempt was ${Math.round(inactivityMs)} ms ago`,
})

const membershipTexts: Readonly<Record<ConsumerVitals['phase'], string>> = {
  joining: 'joining: this process has no partitions yet',
  joined: 'joined: Kafka assigns partitions to this process',
  stopping: 'the process is stopping',
}

function groupCheck(name: string, { phase, silenceMs }: ConsumerVitals): Check {
  const isSilent = phase === 'joined' && silenceMs >= silenceLimitMs
  const detail = isSilent
    ? `a consumer got no response from any broker for ${Math.round(silenceMs)} ms`
    : membershipTexts[phase]
  return { name, ok: phase === 'joined' && !isSilent, detail }
}

export interface AudiencesVitals extends ConsumerVitals {
  /** The number of assigned partitions. */
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
      {
        name: 'memberships',
        ok: restored === partitions,
        detail: `audience memberships read from Kafka: ${restored} of the ${partitions} partitions of this process`,
      },
      {
        name: 'audience topics',
        ok: isWritable,
        detail: isWritable
          ? 'writes to all topics succeed'
          : `writes to ${unwritableTopics.join(', ')} fail; Hookline repeats the writes, and audience inputs wait until the writes succeed`,
      },
    ],
  }
}

export interface CollectorVitals {
  readonly phase: 'starting' | 'listening' | 'draining' | 'stopping'
  /**
   * `undefined` while appends succeed. `lastedMs`: milliseconds since the outage of Kafka began.
   * `seenMsAgo`: milliseconds since the last failed append.
   */
  readonly outage: { readonly lastedMs: number; readonly seenMsAgo: number } | undefined
}

/**
 * Duration of a Kafka outage after which the collector is not ready. A broker restart takes less
 * time.
 */
const outageLimitMs = 15_000
/**
 * Time after the last failed append until the collector is ready again. A collector that is not
 * ready gets no requests, so no append could show that Kafka works again.
 */
const outageForgottenMs = 30_000

export function collectorHealth({ phase, outage }: CollectorVitals): Health {
  const isOut = outage !== undefined && outage.lastedMs >= outageLimitMs && outage.seenMsAgo < outageForgottenMs
  const detail =
    outage === undefined
      ? 'Kafka accepts messages'
      : `all writes to Kafka have failed for ${Math.round(outage.lastedMs)} ms`
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
 * The process is ready if the operator API listens, or is off because `operator.keys` has no key.
 */
export const operatorHealth = (phase: OperatorPhase): Health => ({
  live: [],
  ready: [
    {
      name: 'operator',
      ok: phase === 'listening' || phase === 'off',
      detail: phase === 'off' ? 'the operator API does not listen, because operator.keys has no key' : phase,
    },
  ],
})

/** The state of the configuration file when it was last read. */
export type ReloadState =
  | { readonly kind: 'accepted'; readonly needRestart: readonly string[] }
  | { readonly kind: 'refused' }

/**
 * Creates a check that shows the state of the configuration file. It never fails: if Hookline
 * refuses a changed file, the last valid configuration stays in use.
 */
export function configurationHealth(file: ReloadState, inUseSince: EpochMs): Health {
  const since = `in use since ${new Date(inUseSince).toISOString()}`
  return { live: [], ready: [{ name: 'configuration', ok: true, detail: `${since}${remarkOn(file)}` }] }
}

function remarkOn(file: ReloadState): string {
  if (file.kind === 'refused')
    return '; Hookline refused the changed configuration file: correct the problems in the log'
  return file.needRestart.length === 0 ? '' : `; changes that need a restart: ${file.needRestart.join(', ')}`
}

export const allHealth = (parts: readonly Health[]): Health => ({
  live: parts.flatMap(({ live }) => live),
  ready: parts.flatMap(({ ready }) => ready),
})
