import type { Clock, Logger, TopicFollower, TopicFollowerHandlers } from '../../core/ports.ts'
import { durationMs, type EpochMs } from '../../core/units.ts'
import { type KafkaClient, metadataMaxAgeMs } from './client.ts'
import { codeOfThrown, KafkaError, kafkaError } from './errors.ts'
import {
  clusterOf,
  fetchFrom,
  leaderOf,
  offsetSince,
  partitionsOf,
  patience,
  type Range,
  rangeOf,
  retryAfter,
} from './fetching.ts'
import { FollowedPartition } from './followed.ts'
import type { Cluster } from './internals.ts'
import { recordOf } from './records.ts'

export interface FollowerDeps {
  readonly kafka: KafkaClient
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
  /** Where to begin in what is there at the start: after all of it, or with what was appended at that time or later. Absent: with all of it. */
  readonly from?: 'end' | EpochMs
  /** How old the view of partitions and leaders may be; half a minute. */
  readonly metadataMaxAgeMs?: number
}

/** So long a broker keeps a fetch that has nothing to answer with: `onCurrent` comes so often. */
const maxWaitMs = 500
/** What is behind by more than this is asked for at once, with or without an answer: it is to be known that there is none. */
const behindMs = 2 * maxWaitMs
/** An election and a restart take less: what lasts longer, somebody has to look at. */
const loudAfterMs = 5_000
/** A fetch under way is waited for at the stop, a broker that does not answer is not. */
const stopLimit = durationMs(2_000)

/**
 * Follows by fetches of its own, without any group, as the reader does: one to each leader, all at once, for all of its partitions. Once
 * started it never gives up: a topic that cannot be followed is tried again, and the log says so.
 */
export function createFollower(deps: FollowerDeps): TopicFollower {
  return new Follower(deps)
}

class Follower implements TopicFollower {
  readonly #deps: FollowerDeps
  readonly #cluster: Cluster
  readonly #partitions = new Map<number, FollowedPartition>()
  #isStopped = false
  #wake = (): void => undefined
  #running: Promise<void> = Promise.resolve()
  #asOf = Number.NEGATIVE_INFINITY
  #metadataAt = Number.NEGATIVE_INFINITY
  /** Since when nothing was heard of some partition, and whether that was said. */
  #trouble: { readonly since: number; isTold: boolean } | undefined

  constructor(deps: FollowerDeps) {
    this.#deps = deps
    this.#cluster = clusterOf(deps.kafka)
  }

  async start(handlers: TopicFollowerHandlers): Promise<void> {
    const { topic } = this.#deps
    const current = Promise.withResolvers<void>()
    this.#running = this.#run(handlers, current)
    try {
      await current.promise
    } catch (error) {
      throw kafkaError(`topic ${topic} cannot be followed`, error)
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    const tooLate = Promise.withResolvers<void>()
    const cancel = this.#deps.clock.after(stopLimit, tooLate.resolve)
    await Promise.race([this.#running, tooLate.promise])
    cancel()
  }

  async #run(handlers: TopicFollowerHandlers, current: PromiseWithResolvers<void>): Promise<void> {
    try {
      await partitionsOf(this.#cluster, this.#deps.topic)
      await this.#follow(handlers, current.resolve)
      throw new KafkaError('it was stopped', { code: 'CLOSED', retriable: false })
    } catch (error) {
      current.reject(error)
    } finally {
      await this.#cluster.disconnect()
    }
  }

  /** Until it is stopped. @throws when patience is over before it has been current once. */
  async #follow(handlers: TopicFollowerHandlers, onFirst: () => void): Promise<void> {
    let attempt = 0
    while (!this.#isStopped) {
      const before = this.#progress
      const failure = await this.#round(handlers).catch((error: unknown) => ({ error }))
      if (this.#isStopped) return
      const isFurther = this.#tell(handlers) || this.#progress !== before
      attempt = isFurther ? 0 : attempt + 1
      if (this.#asOf > Number.NEGATIVE_INFINITY) onFirst()
      else if (attempt > patience) throw failure?.error ?? new Error('nothing comes, although it is not at its end')
      this.#note(failure)
      if (failure !== undefined || attempt > 0) await this.#recover(failure?.error, attempt)
    }
  }

  /** Changes whenever anything of any partition is read. */
  get #progress(): number {
    return [...this.#partitions.values()].reduce((sum, { position }) => sum + position, 0)
  }

  /** One fetch from each leader. Resolves with one of the failures; what others answer is taken all the same. */
  async #round(handlers: TopicFollowerHandlers): Promise<{ readonly error: unknown } | undefined> {
    await this.#findPartitions()
    const { clock, topic } = this.#deps
    const byLeader = Map.groupBy(this.#partitions.values(), ({ partition }) =>
      leaderOf(this.#cluster, topic, partition),
    )
    const at = clock.boottime()
    const isBehind = at - this.#asOf > behindMs
    const fetches = [...byLeader].map(async ([node, wanted]) => {
      const request = { node, topic, wanted, maxWaitMs: isBehind ? 0 : maxWaitMs }
      for (const { partition, records, next, end } of await fetchFrom(this.#cluster, request)) {
        if (this.#isStopped) return
        for (const message of records) handlers.onRecord(recordOf(topic, partition, message))
        this.#partitions.get(partition)?.took(next, end, at)
      }
    })
    const failed = (await Promise.allSettled(fetches)).find(({ status }) => status === 'rejected')
    return failed && { error: (failed as PromiseRejectedResult).reason }
  }

  /** Partitions may be added to a topic: what is new is followed from its beginning. */
  async #findPartitions(): Promise<void> {
    const { clock, topic } = this.#deps
    const now = clock.monotonic()
    if (now - this.#metadataAt < (this.#deps.metadataMaxAgeMs ?? metadataMaxAgeMs)) return
    const isFirst = this.#metadataAt === Number.NEGATIVE_INFINITY
    if (!isFirst) await this.#cluster.refreshMetadata()
    for (const { partitionId } of this.#cluster.findTopicPartitionMetadata(topic)) {
      if (this.#partitions.has(partitionId)) continue
      const position = isFirst ? await this.#start(partitionId) : (await this.#rangeOf(partitionId)).beginning
      this.#partitions.set(partitionId, new FollowedPartition(partitionId, position))
    }
    this.#metadataAt = now
  }

  async #start(partition: number): Promise<number> {
    const { topic, from } = this.#deps
    const { beginning, end } = await this.#rangeOf(partition)
    if (from === undefined) return beginning
    return from === 'end' ? end : ((await offsetSince(this.#cluster, { topic, partition }, from)) ?? end)
  }

  #rangeOf(partition: number): Promise<Range> {
    return rangeOf(this.#cluster, this.#deps.topic, partition)
  }

  /** Whether more is known than before. */
  #tell(handlers: TopicFollowerHandlers): boolean {
    const asOf = Math.min(...[...this.#partitions.values()].map(partition => partition.asOf))
    if (this.#partitions.size === 0 || asOf <= this.#asOf) return false
    this.#asOf = asOf
    handlers.onCurrent(asOf)
    return true
  }

  #note(failure: { readonly error: unknown } | undefined): void {
    const { clock, logger, topic } = this.#deps
    if (failure === undefined) {
      if (this.#trouble?.isTold === true) logger.info({ topic }, 'topic is followed again')
      this.#trouble = undefined
      return
    }
    const code = codeOfThrown(failure.error)
    this.#trouble ??= { since: clock.monotonic(), isTold: false }
    const lastedMs = Math.round(clock.monotonic() - this.#trouble.since)
    logger.debug({ topic, code, lastedMs }, 'fetch failed, trying again')
    if (lastedMs < loudAfterMs || this.#trouble.isTold) return
    this.#trouble.isTold = true
    logger.error({ topic, code, lastedMs }, 'topic cannot be followed: what is new there is not known')
  }

  async #recover(error: unknown, attempt: number): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve
      this.#deps.clock.after(durationMs(retryAfter(attempt)), resolve)
    })
    if (this.#isStopped) return
    await this.#cluster.refreshMetadata().catch(() => undefined)
    if (codeOfThrown(error) === 'OFFSET_OUT_OF_RANGE') await this.#findPositions().catch(() => undefined)
  }

  /** Where the log does not reach our positions any more: on with what is left of it, or anew where it was cut. */
  async #findPositions(): Promise<void> {
    const { topic, logger } = this.#deps
    for (const followed of this.#partitions.values()) {
      const { beginning, end } = await this.#rangeOf(followed.partition)
      if (followed.position >= beginning && followed.position <= end) continue
      const { partition, position } = followed
      logger.warn(
        { topic, partition, position, beginning, end },
        'log does not reach the position: read from its beginning',
      )
      followed.moveTo(beginning)
    }
  }
}
