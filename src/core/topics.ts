import type { TopicDescription } from './ports.ts'
import type { ServiceName } from './settings/service-names.ts'
import { type DurationMs, durationMs, formatDuration, parseDuration } from './units.ts'

/** Tiers that exist whatever the schedule: deferrals and replay use them. */
export const standingTiers: readonly DurationMs[] = [10_000, 30_000, 60_000, 300_000].map(durationMs)

/** Every tier that a schedule needs, shortest first, each once. */
export function tiersOf(schedule: readonly DurationMs[]): readonly DurationMs[] {
  return [...new Set([...standingTiers, ...schedule])].sort((a, b) => a - b)
}

/** The names of one installation's topics and consumer groups. */
export interface TopicNames {
  readonly events: string
  readonly deadLetter: string
  /** What the collector did not take, for whoever looks for it. */
  readonly rejected: string
  /** What syncs observed, and how each change ended. */
  readonly audienceInput: string
  /** What each destination is known to have; compacted. */
  readonly memberships: string
  /** Who was deleted, and whether to take anything from them; compacted. */
  readonly suppressions: string
  /** How deletions go on; compacted. */
  readonly deletions: string
  /** One record an attempt, for whoever watches; there only when `delivery.attemptsTopic` is on. */
  readonly attempts: string
  readonly dispatcherGroup: string
  readonly retriesGroup: string
  readonly audiencesGroup: string
  /** `hookline.retry.30s` */
  retry(tier: DurationMs): string
  /** The tier that a topic is, or undefined when it is no retry topic of this installation. */
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
    dispatcherGroup: `${prefix}.dispatcher`,
    retriesGroup: `${prefix}.retries`,
    audiencesGroup: `${prefix}.audiences`,
    retry: tier => retryPrefix + formatDuration(tier),
    tierOf: topic => (topic.startsWith(retryPrefix) ? parseDuration(topic.slice(retryPrefix.length)) : undefined),
  }
}

/** How a topic has to be set up. */
export interface TopicSpec {
  readonly name: string
  readonly partitions: number
  readonly replicationFactor: number
  readonly cleanup: 'delete' | 'compact' | 'compact,delete'
  readonly retention: DurationMs | undefined
  /** For this long the cleaner leaves every record of a compacted topic; undefined: it may take one at any time. */
  readonly compactionLag: DurationMs | undefined
  /** The largest batch that it takes, in bytes; undefined: the broker's default, a mebibyte. */
  readonly maxRecordBytes: number | undefined
  /** The topic that it has as many partitions as: records keep theirs on their way, or as many processes share both; undefined: stands alone. */
  readonly partitionsAs: string | undefined
  /** Those that do not start without it. */
  readonly usedBy: readonly ServiceName[]
}

const day = 24 * 3_600_000
/** A record that should not have been written is noticed within minutes, and what it hides must still be there to be written again. */
const compactionLag = durationMs(6 * 3_600_000)

/** Of copies: twice the broker's default, for they are longer than their records by our headers. */
const maxRecordBytes = 2 * 1024 * 1024

/** Every topic that the services of an installation need; of the attempts only with `delivery.attemptsTopic`. */
export function topicSpecs(
  topics: { prefix: string; partitions: number; replicationFactor: number },
  schedule: readonly DurationMs[],
  { attemptsTopic = false }: { readonly attemptsTopic?: boolean } = {},
): readonly TopicSpec[] {
  const names = topicNames(topics.prefix)
  const { partitions, replicationFactor } = topics
  const spec = (
    name: string,
    {
      cleanup = 'delete',
      days,
      partitionsAs,
      compactionLag,
      maxRecordBytes,
      usedBy,
    }: Partial<TopicSpec> & { days?: number; usedBy: ServiceName[] },
  ): TopicSpec => ({
    name,
    partitions,
    replicationFactor,
    cleanup,
    partitionsAs,
    compactionLag,
    maxRecordBytes,
    usedBy,
    retention: days === undefined ? undefined : durationMs(days * day),
  })
  return [
    spec(names.events, { days: 7, partitionsAs: names.events, usedBy: ['collector', 'dispatcher', 'audiences'] }),
    ...tiersOf(schedule).map(tier =>
      spec(names.retry(tier), { days: 3, partitionsAs: names.events, maxRecordBytes, usedBy: ['dispatcher'] }),
    ),
    spec(names.deadLetter, {
      cleanup: 'compact,delete',
      days: 30,
      maxRecordBytes,
      usedBy: ['dispatcher', 'audiences'],
    }),
    spec(names.rejected, { days: 3, usedBy: ['collector'] }),
    spec(names.audienceInput, {
      days: 7,
      partitionsAs: names.events,
      usedBy: ['collector', 'dispatcher', 'audiences'],
    }),
    spec(names.memberships, { cleanup: 'compact', compactionLag, partitionsAs: names.events, usedBy: ['audiences'] }),
    spec(names.suppressions, { cleanup: 'compact', compactionLag, usedBy: ['collector', 'dispatcher', 'audiences'] }),
    spec(names.deletions, { cleanup: 'compact,delete', days: 90, usedBy: ['collector', 'dispatcher'] }),
    ...(attemptsTopic ? [spec(names.attempts, { days: 1, usedBy: ['dispatcher'] })] : []),
  ]
}

/** The topic configuration that a spec is created with. */
export function topicConfig(spec: TopicSpec): Readonly<Record<string, string>> {
  return {
    'cleanup.policy': spec.cleanup,
    ...(spec.retention !== undefined && { 'retention.ms': String(spec.retention) }),
    ...(spec.compactionLag !== undefined && { 'min.compaction.lag.ms': String(spec.compactionLag) }),
    ...(spec.maxRecordBytes !== undefined && { 'max.message.bytes': String(spec.maxRecordBytes) }),
    // Delays, retention and the time received count from here, not from what a producer's clock says.
    'message.timestamp.type': 'LogAppendTime',
    // With three replicas a record that was acknowledged survives the loss of a broker.
    'min.insync.replicas': spec.replicationFactor >= 3 ? '2' : '1',
  }
}

/** What a missing topic is created with: as many partitions as the topics have that it must agree with. */
export function topicToCreate(spec: TopicSpec, existing: readonly TopicDescription[]): TopicSpec {
  const partitions = existing.find(({ name }) => name === spec.partitionsAs)?.partitions ?? spec.partitions
  return { ...spec, partitions }
}

/** Kafka deletes whole segments: a record lasts beyond the retention for as long as its segment was written to, by default a week. */
const usualSegmentMs = 7 * day

/**
 * How long after a message was received it may still be delivered: a dead letter is replayed just before it is gone, and its copy waits in
 * the events topic or a retry topic. By the retention that the topics have, and at least by that of their specs.
 */
export function receivedLasts(
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
  return durationMs(longest(name => name === names.deadLetter) + waiting)
}
