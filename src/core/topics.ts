import type { TopicDescription } from './ports.ts'
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
  readonly dispatcherGroup: string
  readonly retriesGroup: string
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
    dispatcherGroup: `${prefix}.dispatcher`,
    retriesGroup: `${prefix}.retries`,
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
  /** A record keeps its partition on its way between topics of one group; undefined: stands alone. */
  readonly partitionsAs: string | undefined
}

const day = 24 * 3_600_000

/** Every topic that the services of an installation need. */
export function topicSpecs(
  topics: { prefix: string; partitions: number; replicationFactor: number },
  schedule: readonly DurationMs[],
): readonly TopicSpec[] {
  const names = topicNames(topics.prefix)
  const spec = (name: string, cleanup: TopicSpec['cleanup'], days: number, partitionsAs?: string): TopicSpec => ({
    name,
    cleanup,
    partitions: topics.partitions,
    replicationFactor: topics.replicationFactor,
    retention: durationMs(days * day),
    partitionsAs,
  })
  return [
    spec(names.events, 'delete', 7, names.events),
    ...tiersOf(schedule).map(tier => spec(names.retry(tier), 'delete', 3, names.events)),
    spec(names.deadLetter, 'compact,delete', 30),
  ]
}

/** The topic configuration that a spec is created with. */
export function topicConfig(spec: TopicSpec): Readonly<Record<string, string>> {
  return {
    'cleanup.policy': spec.cleanup,
    ...(spec.retention !== undefined && { 'retention.ms': String(spec.retention) }),
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
