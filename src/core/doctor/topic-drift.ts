import { countWithNoun } from '../count-with-noun.ts'
import type { TopicDescription } from '../ports.ts'
import { type DurationMs, durationMs, formatDuration } from '../time.ts'
import { type TopicSpec, topicConfig } from '../topics.ts'
import type { Judgement } from './finding.ts'

/** One difference between a topic and its spec. */
export interface TopicDrift {
  /** The name of the topic; `*` for a difference that concerns all topics. */
  readonly topic: string
  readonly kind:
    | 'missing'
    | 'partitions'
    | 'cleanup'
    | 'retention'
    | 'replication'
    | 'in_sync'
    | 'timestamps'
    | 'record_size'
    | 'compaction_lag'
    | 'tombstones'
  /** `error`: deliveries can be lost or misrouted. `note`: the operator should know it. */
  readonly severity: 'error' | 'note'
  /** One line: the difference and its effect. */
  readonly detail: string
}

/**
 * Compares topics with their specs. `window` is the retry window: a topic's retention must not be
 * shorter.
 */
export function topicDrift(
  specs: readonly TopicSpec[],
  found: readonly TopicDescription[],
  window: DurationMs,
): readonly TopicDrift[] {
  const byName = new Map(found.map(topic => [topic.name, topic]))
  const events = specs.find(({ name, partitionsAs }) => name === partitionsAs)?.name ?? ''
  const largestEvent = Number(byName.get(events)?.config['max.message.bytes'] ?? 0)
  const drifts = specs.flatMap(spec => {
    const topic = byName.get(spec.name)
    if (topic === undefined) return [drift(spec, 'missing', 'error', 'does not exist')]
    return [
      ...partitionDrift(spec, topic, byName),
      ...cleanupDrift(spec, topic),
      ...retentionDrift(spec, topic, window),
      ...replicationDrift(spec, topic),
      ...configDrift(spec, topic),
      ...recordSizeDrift(spec, topic, largestEvent),
      ...compactionLagDrift(spec, topic),
      ...tombstoneDrift(spec, topic),
    ]
  })
  return specs.some(({ replicationFactor }) => replicationFactor === 1) ? [developmentNote, ...drifts] : drifts
}

const developmentNote: TopicDrift = {
  topic: '*',
  kind: 'replication',
  severity: 'note',
  detail:
    'topics.replicationFactor is 1, so each record is on only one broker, and the loss of a broker loses deliveries; use 1 only for development',
}

const drift = (
  { name }: TopicSpec,
  kind: TopicDrift['kind'],
  severity: TopicDrift['severity'],
  detail: string,
): TopicDrift => ({ topic: name, kind, severity, detail })

/**
 * A topic with `spec.partitionsAs` must have as many partitions as the topic with this name or, if
 * that topic is missing or is the topic itself, as `topics.partitions`. Other topics are not
 * checked.
 */
function partitionDrift(
  spec: TopicSpec,
  topic: TopicDescription,
  byName: ReadonlyMap<string, TopicDescription>,
): TopicDrift[] {
  const leader = spec.partitionsAs === undefined ? undefined : byName.get(spec.partitionsAs)
  if (leader !== undefined && leader.name !== topic.name) {
    if (leader.partitions === topic.partitions) return []
    const detail = `has ${countWithNoun(topic.partitions, 'partition')}, but ${leader.name} has ${leader.partitions}: give both topics the same number of partitions (see docs/how-to/scale.md)`
    return [drift(spec, 'partitions', 'error', detail)]
  }
  if (spec.partitionsAs === undefined || topic.partitions === spec.partitions) return []
  const isShort = topic.partitions < spec.partitions
  // Kafka can add partitions to a topic, but cannot remove any.
  const alternative = isShort ? ', or add partitions as docs/how-to/scale.md says' : ''
  const detail = `has ${countWithNoun(topic.partitions, 'partition')}, but topics.partitions is ${spec.partitions}: set topics.partitions to ${topic.partitions}${alternative}`
  return [drift(spec, 'partitions', isShort ? 'error' : 'note', detail)]
}

const policies = (cleanup: string): string =>
  cleanup
    .split(',')
    .map(policy => policy.trim())
    .sort()
    .join(',')

function cleanupDrift(spec: TopicSpec, { config }: TopicDescription): TopicDrift[] {
  const is = config['cleanup.policy'] ?? 'delete'
  if (policies(is) === policies(spec.cleanup)) return []
  return [drift(spec, 'cleanup', 'error', `has cleanup.policy ${is}, but needs ${spec.cleanup}: change cleanup.policy`)]
}

function retentionDrift(spec: TopicSpec, { config }: TopicDescription, window: DurationMs): TopicDrift[] {
  const text = config['retention.ms']
  // A retention of -1 means that Kafka keeps the records forever.
  if (spec.retention === undefined || text === undefined || Number(text) < 0) return []
  const is = durationMs(Number(text))
  if (is >= spec.retention) return []
  if (is >= window)
    return [
      drift(
        spec,
        'retention',
        'note',
        `keeps records for ${formatDuration(is)}, but Hookline creates this topic with a retention of ${formatDuration(spec.retention)}: raise retention.ms`,
      ),
    ]
  const detail = `keeps records for ${formatDuration(is)}, less than the retry window of ${formatDuration(window)}: raise retention.ms`
  return [drift(spec, 'retention', 'error', detail)]
}

/** A replication factor below 3 is an error, unless the spec has factor 1 (for development). */
function replicationDrift(spec: TopicSpec, { replicationFactor }: TopicDescription): TopicDrift[] {
  if (spec.replicationFactor === 1 || replicationFactor >= 3) return []
  return [
    drift(
      spec,
      'replication',
      'error',
      `has replication factor ${replicationFactor}, but needs 3: add replicas, for example with kafka-reassign-partitions.sh`,
    ),
  ]
}

function configDrift(spec: TopicSpec, { replicationFactor, config }: TopicDescription): TopicDrift[] {
  const drifts: TopicDrift[] = []
  const wanted = topicConfig(spec)
  const inSync = config['min.insync.replicas']
  if (replicationFactor >= 3 && inSync !== undefined && Number(inSync) < 2)
    drifts.push(
      drift(
        spec,
        'in_sync',
        'note',
        'has min.insync.replicas 1, so Kafka acknowledges a record that only one replica has: set min.insync.replicas to 2',
      ),
    )
  if (replicationFactor >= 3 && Number(inSync) >= replicationFactor) {
    const detail = `has min.insync.replicas ${inSync}, so Kafka refuses all writes to a partition while one of its ${replicationFactor} replicas is down: set min.insync.replicas to 2`
    drifts.push(drift(spec, 'in_sync', 'note', detail))
  }
  const timestamps = config['message.timestamp.type']
  if (timestamps !== undefined && timestamps !== wanted['message.timestamp.type']) {
    const detail = `has message.timestamp.type ${timestamps}, so retention and delays use producers' clocks: set message.timestamp.type to LogAppendTime`
    drifts.push(drift(spec, 'timestamps', 'note', detail))
  }
  return drifts
}

/**
 * Bytes for the headers that Hookline adds to an event in a retry topic or the dead-letter topic.
 */
const copyOverheadBytes = 64 * 1024

/**
 * Returns a note if the maximum record size is too small for the largest event with Hookline's
 * headers.
 */
function recordSizeDrift(spec: TopicSpec, { config }: TopicDescription, largestEvent: number): TopicDrift[] {
  const is = config['max.message.bytes']
  if (spec.maxRecordBytes === undefined || is === undefined) return []
  const needed = Math.max(spec.maxRecordBytes, largestEvent + copyOverheadBytes)
  if (Number(is) >= needed) return []
  const detail = `has max.message.bytes ${is}, but needs ${needed}, because a retry record or dead letter is longer than its event: raise max.message.bytes`
  return [drift(spec, 'record_size', 'note', detail)]
}

function compactionLagDrift(spec: TopicSpec, { config }: TopicDescription): TopicDrift[] {
  const is = config['min.compaction.lag.ms']
  if (spec.compactionLag === undefined || is === undefined || Number(is) >= spec.compactionLag) return []
  const detail = `has min.compaction.lag.ms ${is}, but needs at least ${spec.compactionLag}: otherwise compaction may delete valid records; raise min.compaction.lag.ms`
  return [drift(spec, 'compaction_lag', 'note', detail)]
}

function tombstoneDrift(spec: TopicSpec, { config }: TopicDescription): TopicDrift[] {
  const is = config['delete.retention.ms']
  if (spec.tombstoneRetention === undefined || is === undefined || Number(is) >= spec.tombstoneRetention) return []
  const detail = `has delete.retention.ms ${is}, but needs at least ${spec.tombstoneRetention}: raise delete.retention.ms; otherwise, some processes may ignore a new destination or source with the id of a deleted one`
  return [drift(spec, 'tombstones', 'error', detail)]
}

export function judgeTopics(drift: readonly TopicDrift[], count: number): readonly Judgement[] {
  const told = drift.map(
    ({ topic, kind, severity, detail }): Judgement => ({
      level: severity === 'error' ? 'fail' : 'warn',
      // A finding about all topics names no topic.
      ...(topic !== '*' && { which: topic }),
      detail,
      ...(kind === 'missing' && { remedy: 'create it with: hookline topics apply' }),
    }),
  )
  const isFit = !drift.some(({ severity }) => severity === 'error')
  return isFit
    ? [{ level: 'ok', detail: `${countWithNoun(count, 'topic')} with the required settings` }, ...told]
    : told
}

/** Returns a failure for each topic with partitions that Hookline cannot read or write now. */
export function judgeAvailability(found: readonly TopicDescription[]): readonly Judgement[] {
  return found.flatMap(({ name: which, partitions, leaderless = 0, underMinIsr = 0 }) => {
    const judgements: Judgement[] = []
    if (leaderless > 0)
      judgements.push({
        ...{ level: 'fail', which },
        detail: `partitions without a leader: ${leaderless} of ${partitions}, so Hookline can neither read nor write them`,
        remedy:
          'start the brokers that have the replicas of these partitions; to list the partitions, run: kafka-topics.sh --describe --unavailable-partitions',
      })
    if (underMinIsr > 0)
      judgements.push({
        ...{ level: 'fail', which },
        detail: `partitions with fewer in-sync replicas than min.insync.replicas: ${underMinIsr} of ${partitions}, so Kafka refuses writes to them`,
        remedy:
          'start the brokers that have the replicas of these partitions, or wait until the replicas are in sync; to list the partitions, run: kafka-topics.sh --describe --under-min-isr-partitions',
      })
    return judgements
  })
}
