import { type BacklogLimits, backlogLimits, dueSoonMs } from '../../core/delivery/backlog.ts'
import type {
  Clock,
  LogConsumer,
  LogConsumerHandlers,
  LogRecord,
  Position,
  RecordBatch,
  TopicPartition,
} from '../../core/ports.ts'
import { durationMs, type EpochMs } from '../../core/units.ts'
import { Flow, type FlowCounts } from './flow.ts'
import { Shard } from './shard.ts'

interface Deps {
  readonly consumer: LogConsumer
  readonly clock: Clock
  /** Calls at once in the process. */
  readonly maxInFlight: number
  /** Whether a partition looks further ahead than its calls need, up to its limits; always, unless it is given. */
  readonly looksOn?: () => boolean
  /** When a record may be taken up. Undefined: at once (live topics). */
  readonly dueAt: ((record: LogRecord) => EpochMs) | undefined
  /** Before any record of it, which it may hold back. */
  readonly onAssigned?: (shard: Shard) => void
  readonly onRecord: (record: LogRecord, shard: Shard) => void
  /** As much was taken up as there is, or as there is room for. */
  readonly onTakenUp: (shard: Shard) => void
  readonly onRevoked: (shard: Shard) => void
  /** It is given to another process, and nothing of it is in progress: what is started now for it is waited for. */
  readonly onHandOver?: (shard: Shard) => void
  /** What was held back may be startable now, or void. */
  readonly onRelease: () => void
}

/** The partitions that one consumer has been given: their shards, what of them is due, how far each is done. */
export interface Partitions {
  readonly handlers: LogConsumerHandlers
  shards(): Iterable<Shard>
  /** What has happened since it was last asked. */
  takeCounts(): FlowCounts
}

/** The longest single wait: after it the clock is read again, so that a pause of the machine does not make a long wait late by its length. */
const lookAtClockEvery = 30_000

const always = (): boolean => true

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

export function createPartitions(deps: Deps): Partitions {
  const { consumer, clock, maxInFlight, looksOn = always, dueAt, onRecord, onTakenUp } = deps
  const shards = new Map<string, Shard>()
  let limits = backlogLimits(0, maxInFlight)
  const limitsNow = (): BacklogLimits => (looksOn() ? limits.whileClogged : limits.whileAllGetsOn)
  const flow = new Flow()

  function revoke(partition: TopicPartition): void {
    const shard = shards.get(keyOf(partition))
    if (shard === undefined) return
    shard.revoked = true
    flow.left(shard)
    shards.delete(keyOf(partition))
    limits = backlogLimits(shards.size, maxInFlight)
    deps.onRevoked(shard)
  }

  async function giveUp(partitions: readonly TopicPartition[]): Promise<void> {
    flow.joined()
    const leaving = new Set(partitions.map(keyOf))
    for (const [key, shard] of shards) shard.isLeaving = leaving.has(key)
    deps.onRelease()
    await Promise.all([...shards.values()].map(shard => (shard.isLeaving ? handOver(deps, shard) : undefined)))
  }

  function assign(position: Position): void {
    revoke(position)
    const shard = new Shard(position, { consumer, limits: limitsNow, onFree: takeUp })
    shards.set(keyOf(position), shard)
    limits = backlogLimits(shards.size, maxInFlight)
    deps.onAssigned?.(shard)
  }

  function onRecords(batch: RecordBatch): void {
    const shard = shards.get(keyOf(batch))
    // While it waits, the position stands where it was sought to: what an earlier fetch still brings comes again.
    if (shard === undefined || shard.holds('not_due')) return
    shard.highWatermark = batch.highWatermark
    shard.fetchedAt = clock.monotonic()
    shard.unread.add(batch)
    takeUp(shard)
  }

  /** Takes up what has been fetched, for as long as nothing holds the shard; only then is more fetched. */
  function takeUp(shard: Shard): void {
    // What is done at once (a drop) makes room from within: the loop that runs already goes on, without a deeper stack.
    if (shard.isTakingUp) return
    shard.isTakingUp = true
    const now = clock.now()
    while (!shard.isHeld) {
      const record = shard.unread.next()
      if (record === undefined) break
      if (record.offset < shard.tracker.received) continue
      const due = dueAt === undefined ? now : dueAt(record)
      if (due > now) {
        shard.unread.putBack(record)
        waitUntilDue(deps, shard, due, limits.whileClogged.dueSoon)
      } else if (shard.opened(record)) onRecord(record, shard)
    }
    shard.isTakingUp = false
    if (shard.unread.isEmpty && !shard.holds('not_due')) shard.tracker.advance(shard.unread.nextOffset)
    if (!shard.isHeld) consumer.resume(shard)
    onTakenUp(shard)
  }

  return {
    handlers: {
      onAssigned: positions => positions.forEach(assign),
      onRevoked: partitions => {
        partitions.forEach(revoke)
        deps.onRelease()
      },
      onRevoking: giveUp,
      onConfirmed: () => deps.onRelease(),
      onRecords,
      positions: () => [...shards.values()].map(positionOf),
    },
    shards: () => shards.values(),
    takeCounts: () => flow.take(shards.values()),
  }
}

async function handOver({ onHandOver }: Deps, shard: Shard): Promise<void> {
  await shard.idle()
  if (shard.isLeaving && !shard.revoked) onHandOver?.(shard)
  await shard.idle()
}

/** Parked records fall due in the order in which they were appended: behind the first one that is not due there is none that is. */
function waitUntilDue({ consumer, clock }: Deps, shard: Shard, due: EpochMs, mostDueSoon: number): void {
  shard.hold('not_due')
  const again = shard.unread.keep(due - clock.now() <= dueSoonMs ? mostDueSoon : 0)
  if (again !== undefined) consumer.seek(shard, again)
  const look = (): void => {
    const wait = due - clock.now()
    if (wait <= 0 || shard.revoked) shard.unhold('not_due')
    else clock.after(durationMs(Math.min(wait, lookAtClockEvery)), look)
  }
  look()
}

function positionOf({ topic, partition, tracker }: Shard): Position {
  return { topic, partition, offset: tracker.committable, metadata: tracker.metadata }
}
