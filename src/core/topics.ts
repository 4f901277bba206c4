import { fixedTiers } from './fixed-retry-tiers.ts'
import { flowLimits } from './flow/flow-control-constants.ts'
import type { TopicDescription } from './ports.ts'
import type { RecordedAttempts } from './settings/schema-of-attempts-topic.ts'
import type { ServiceName } from './settings/service-names.ts'
import type { Settings } from './settings/settings.ts'
import { type DurationMs, durationMs, formatDuration, parseDuration } from './time.ts'

/** The waits (tiers) of all retry topics of an installation with this schedule, shortest first. */
export function tiersOf(schedule: readonly DurationMs[]): readonly DurationMs[] {
  return [...new Set([...fixedTiers, ...schedule])].sort((a, b) => a - b)
}

/** The names of one installation's topics and consumer groups. */
export interface TopicNames {
  readonly events: string
  readonly deadLetter: string
  /** Messages that the collector rejected, for analysis. */
  readonly rejected: string
  /** Inputs of audiences: uploaded members, replays, resets, deletions, and results of updates. */
  readonly audienceInput: string
  /** The membership of each user in each audience at each destination; compacted. */
  readonly memberships: string
  /** The suppressions of each user; compacted. */
  readonly suppressions: string
  /** The deletion requests and their results; compacted. */
  readonly deletions: string
  /** Attempts, keyed by message id. Absent when `delivery.attemptsTopic` is `off`. */
  readonly attempts: string
  /**
   * Destinations and sources of the operator API; compacted. Only with
   * `operator.encryptionKeyFile`.
   */
  readonly config: string
  /** What each process reports for the operator API; compacted. */
  readonly status: string
  /** Replays and resends of the operator API; compacted. Only with `operator.keys`. */
  readonly jobs: string
  /** Ledger records: counts of deliveries by hour, destination and result. */
  readonly ledger: string
  readonly dispatcherGroup: string
  readonly retriesGroup: string
  readonly audiencesGroup: string
  /** The name of the retry topic of a tier, for example `hookline.retry.30s`. */
  retry(tier: DurationMs): string
  /** The tier of a retry topic; `undefined` for other topics. */
  tierOf(topic: string): DurationMs | undefined
}

export function topicNames(prefix: string): TopicNames {
  const retryPrefix = `${prefix}.retry.`
  return {
    events: `${prefix}.events`,
    deadLetter: `${prefix}.dead-letter`,
    rejected: `${prefix}.rejected`,
    audienceInput: `${prefix}.audience-input`,
    memberships: `${prefix}.audience-memberships`,
    suppressions: `${prefix}.suppressions`,
    deletions: `${prefix}.deletions`,
    attempts: `${prefix}.attempts`,
    config: `${prefix}.config`,
    status: `${prefix}.status`,
    jobs: `${prefix}.jobs`,
    ledger: `${prefix}.ledger`,
    dispatcherGroup: `${prefix}.dispatcher`,
    retriesGroup: `${prefix}.retries`,
    audiencesGroup: `${prefix}.audiences`,
    retry: tier => retryPrefix + formatDuration(tier),
    tierOf: topic => (topic.startsWith(retryPrefix) ? parseDuration(topic.slice(retryPrefix.length)) : undefined),
  }
}

/** The required setup of a topic. */
export interface TopicSpec {
  readonly name: string
  readonly partitions: number
  readonly replicationFactor: number
  readonly cleanup: 'delete' | 'compact' | 'compact,delete'
  readonly retention: DurationMs | undefined
  /**
   * Compaction keeps every record for at least this time; `undefined` if compaction may remove a
   * replaced record at any time.
   */
  readonly compactionLag: DurationMs | undefined
  /** How long compaction keeps a tombstone; `undefined`: the default of 24 h. */
  readonly tombstoneRetention?: DurationMs | undefined
  /** Size in bytes at which a log segment is closed; `undefined`: the default of 1 GiB. */
  readonly segmentBytes?: number | undefined
  /** Maximum bytes of a Kafka batch; `undefined`: the default of 1 MiB. */
  readonly maxRecordBytes: number | undefined
  /**
   * The topic whose number of partitions this topic must have. The reason is that a record has the
   * same partition number in both topics, or that a process owns the same partition numbers of both
   * topics.
   */
  readonly partitionsAs: string | undefined
  /** The services that do not start without this topic. */
  readonly requiredBy: readonly ServiceName[]
}

const day = 24 * 3_600_000
/**
 * How long compaction keeps a replaced record. A late record of the partition's previous owner can
 * replace a valid record. Within this time, a process writes the valid record again.
 */
const compactionLag = durationMs(6 * 3_600_000)

/**
 * How long compaction keeps a replaced record. If two records have the same version, processes
 * apply the first, but compaction keeps the last. Within this time, a process writes the first
 * record again (`objects-from-topic.ts`). The operator API also shows the changes of these 7 days.
 */
const configCompactionLag = durationMs(7 * day)

/**
 * How long the config topic keeps the tombstone of a deleted object. The tombstone has the version
 * of the deletion. Without the tombstone, a process that starts later would create the object again
 * with version 1, and other processes would ignore this version.
 */
const configTombstoneRetention = durationMs(3_650 * day)

/**
 * How long compaction keeps a replaced record. A record that processes ignore can replace a valid
 * record. Within this time, a process writes the valid record again (`jobs-from-topic.ts`). Longer
 * times make operator processes start slower.
 */
const jobsCompactionLag = durationMs(10 * 60_000)

/**
 * Settings of topics that operator processes read at their start. Compaction does not clean the
 * newest segment, so small segments make the start faster.
 */
const smallSegments = { cleanup: 'compact,delete', segmentBytes: 50 * 1024 * 1024 } as const

/**
 * Maximum bytes of a Kafka batch in retry topics and the dead-letter topic. The value is twice
 * Kafka's default, because Hookline adds headers to the event.
 */
const maxRecordBytes = 2 * 1024 * 1024

/** Every topic that the services of an installation need. */
export function topicSpecs(
  topics: { prefix: string; partitions: number; replicationFactor: number },
  schedule: readonly DurationMs[],
  { attemptsTopic = 'failures', configTopic = false, jobsTopic = false }: OptionalTopics = {},
): readonly TopicSpec[] {
  const names = topicNames(topics.prefix)
  const spec = (
    name: string,
    { days, ...given }: Partial<TopicSpec> & { days?: number; requiredBy: ServiceName[] },
  ): TopicSpec => ({
    ...{ name, partitions: topics.partitions, replicationFactor: topics.replicationFactor, cleanup: 'delete' },
    ...{ partitionsAs: undefined, compactionLag: undefined, maxRecordBytes: undefined },
    ...given,
    retention: days === undefined ? undefined : durationMs(days * day),
  })
  return [
    spec(names.events, {
      days: 7,
      partitionsAs: names.events,
      requiredBy: ['collector', 'dispatcher', 'audiences', 'operator'],
    }),
    ...tiersOf(schedule).map(tier =>
      spec(names.retry(tier), {
        days: 3,
        partitionsAs: names.events,
        maxRecordBytes,
        requiredBy: ['dispatcher', 'operator'],
      }),
    ),
    spec(names.deadLetter, {
      cleanup: 'compact,delete',
      days: 30,
      maxRecordBytes,
      requiredBy: ['dispatcher', 'audiences', 'operator'],
    }),
    spec(names.rejected, { days: 3, requiredBy: ['collector'] }),
    spec(names.audienceInput, {
      days: 7,
      partitionsAs: names.events,
      requiredBy: ['collector', 'dispatcher', 'audiences', 'operator'],
    }),
    spec(names.memberships, {
      cleanup: 'compact',
      compactionLag,
      partitionsAs: names.events,
      requiredBy: ['audiences'],
    }),
    spec(names.suppressions, {
      cleanup: 'compact',
      compactionLag,
      requiredBy: ['collector', 'dispatcher', 'audiences', 'operator'],
    }),
    spec(names.ledger, { days: 14, partitionsAs: names.events, requiredBy: ['dispatcher', 'operator'] }),
    spec(names.deletions, { cleanup: 'compact,delete', days: 90, requiredBy: ['collector', 'dispatcher', 'operator'] }),
    spec(names.status, {
      ...smallSegments,
      partitions: 1,
      days: 2,
      requiredBy: ['collector', 'dispatcher', 'audiences', 'operator'],
    }),
    // The attempts topic has the retention of the events topic: a timeline shows records of both.
    ...(attemptsTopic === 'off' ? [] : [spec(names.attempts, { days: 7, requiredBy: ['dispatcher', 'operator'] })]),
    ...(configTopic
      ? [
          spec(names.config, {
            cleanup: 'compact',
            compactionLag: configCompactionLag,
            tombstoneRetention: configTombstoneRetention,
            requiredBy: ['collector', 'dispatcher', 'audiences', 'operator'],
          }),
        ]
      : []),
    ...(jobsTopic
      ? [spec(names.jobs, { ...smallSegments, days: 30, compactionLag: jobsCompactionLag, requiredBy: ['operator'] })]
      : []),
  ]
}

interface OptionalTopics {
  readonly attemptsTopic?: RecordedAttempts
  readonly configTopic?: boolean
  readonly jobsTopic?: boolean
}

/** The topics that an installation with these settings needs. */
export const topicSpecsOf = ({
  topics,
  delivery,
  configTopic,
  operatorListen,
}: Pick<Settings, 'topics' | 'delivery' | 'configTopic'> &
  Partial<Pick<Settings, 'operatorListen'>>): readonly TopicSpec[] =>
  topicSpecs(topics, delivery.schedule, {
    ...delivery,
    configTopic: configTopic === true,
    jobsTopic: operatorListen !== undefined,
  })

export function topicConfig(spec: TopicSpec): Readonly<Record<string, string>> {
  return {
    'cleanup.policy': spec.cleanup,
    ...(spec.retention !== undefined && { 'retention.ms': String(spec.retention) }),
    ...(spec.compactionLag !== undefined && { 'min.compaction.lag.ms': String(spec.compactionLag) }),
    ...(spec.tombstoneRetention !== undefined && { 'delete.retention.ms': String(spec.tombstoneRetention) }),
    ...(spec.segmentBytes !== undefined && { 'segment.bytes': String(spec.segmentBytes) }),
    ...(spec.maxRecordBytes !== undefined && { 'max.message.bytes': String(spec.maxRecordBytes) }),
    // Waits in retry topics, retention and receive times are computed from timestamps, which must
    // be from the broker's clock.
    'message.timestamp.type': 'LogAppendTime',
    // With three replicas, an acknowledged record survives the loss of a broker.
    'min.insync.replicas': spec.replicationFactor >= 3 ? '2' : '1',
  }
}

/**
 * The spec with which a missing topic is created. If the topic `partitionsAs` exists, the new topic
 * gets the same number of partitions.
 */
export function topicToCreate(spec: TopicSpec, existing: readonly TopicDescription[]): TopicSpec {
  const partitions = existing.find(({ name }) => name === spec.partitionsAs)?.partitions ?? spec.partitions
  return { ...spec, partitions }
}

/**
 * The default of `segment.ms`. Kafka deletes whole segments, so a record can stay this much longer
 * than its retention.
 */
const usualSegmentMs = 7 * day

/**
 * Maximum age of a delivery; suppressions are kept for this time. A delivery can stay in the
 * dead-letter topic until the retention ends, then in the topic to which it is replayed, and up to
 * `maxPausedTime` longer if its destination is paused.
 */
export function maxDeliveryAge(
  names: TopicNames,
  specs: readonly TopicSpec[],
  found: readonly TopicDescription[],
): DurationMs {
  const lifeOf = ({ name, retention = durationMs(0) }: TopicSpec): number => {
    const { 'retention.ms': kept = '0', 'segment.ms': segment = '0' } = found.find(it => it.name === name)?.config ?? {}
    if (Number(kept) < 0) return Number.POSITIVE_INFINITY
    return Math.max(Number(kept), retention) + Math.max(Number(segment), usualSegmentMs)
  }
  const longest = (is: (name: string) => boolean): number =>
    Math.max(0, ...specs.filter(({ name }) => is(name)).map(lifeOf))
  const waiting = longest(name => name === names.events || names.tierOf(name) !== undefined)
  return durationMs(longest(name => name === names.deadLetter) + waiting + flowLimits.deferral.maxPausedTime)
}
