import type { Clock, Logger, TopicFollower, TopicFollowerHandlers } from '../../../core/ports.ts'
import { durationMs, type EpochMs } from '../../../core/units.ts'
import { type KafkaClient, metadataMaxAgeMs } from '../kafkajs/client.ts'
import { codeOfThrown, KafkaError, kafkaError } from '../kafkajs/errors.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import {
  clusterOf,
  fetchFrom,
  leaderOf,
  maxRetries,
  type OffsetRange,
  offsetSince,
  partitionsOf,
  rangeOf,
  recordOf,
  retryAfter,
} from './fetch.ts'

export interface FollowerDeps {
  readonly kafka: KafkaClient
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
  /**
   * Where to begin: at the end, or with the first record appended at that time or later. Absent: at
   * the beginning.
   */
  readonly from?: 'end' | EpochMs
  /** Maximum age of the cached partitions and leaders; 30 s by default. */
  readonly metadataMaxAgeMs?: number
}

/**
 * How long a broker may hold a fetch that has nothing to return; also the interval of `onCurrent`.
 */
const maxWaitMs = 500
/** A follower that is behind by more than this does not let the broker hold its fetches. */
const behindMs = 2 * maxWaitMs
/** Longer than an election and a restart take: an outage that lasts longer needs an operator. */
const logErrorAfterMs = 5_000
/** `stop` waits for the fetch in progress, but not for a broker that does not answer. */
const stopLimit = durationMs(2_000)

/**
 * Creates a follower that fetches without a consumer group, as the reader does: concurrently, one
 * fetch from each leader for all of its partitions. Once started it retries for ever; the log says
 * when the topic cannot be followed.
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
  /** Set while the fetches of some partition fail. */
  #outage: { readonly since: number; isLogged: boolean } | undefined

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

  /** Runs until `stop`. @throws after the last retry, when it has never been current */
  async #follow(handlers: TopicFollowerHandlers, onFirst: () => void): Promise<void> {
    let attempt = 0
    while (!this.#isStopped) {
      const before = this.#progress
      const failure = await this.#fetchOnce(handlers).catch((error: unknown) => ({ error }))
      if (this.#isStopped) return
      const isFurther = this.#reportProgress(handlers) || this.#progress !== before
      attempt = isFurther ? 0 : attempt + 1
      if (this.#asOf > Number.NEGATIVE_INFINITY) onFirst()
      else if (attempt > maxRetries) throw failure?.error ?? new Error('no records received before the end of the log')
      this.#logOutage(failure)
      if (failure !== undefined || attempt > 0) await this.#recover(failure?.error, attempt)
    }
  }

  /** A number that changes whenever a record of any partition is read. */
  get #progress(): number {
    return [...this.#partitions.values()].reduce((sum, { position }) => sum + position, 0)
  }

  /** Fetches once from each leader. Resolves with one of the failures; all other answers count. */
  async #fetchOnce(handlers: TopicFollowerHandlers): Promise<{ readonly error: unknown } | undefined> {
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
        this.#partitions.get(partition)?.fetchedTo(next, end, at)
      }
    })
    const failed = (await Promise.allSettled(fetches)).find(({ status }) => status === 'rejected')
    return failed && { error: (failed as PromiseRejectedResult).reason }
  }

  /** Finds partitions that were added to the topic, which are followed from their beginning. */
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

  #rangeOf(partition: number): Promise<OffsetRange> {
    return rangeOf(this.#cluster, this.#deps.topic, partition)
  }

  /** Reports the time up to which all partitions are read. Returns whether it has advanced. */
  #reportProgress(handlers: TopicFollowerHandlers): boolean {
    const asOf = Math.min(...[...this.#partitions.values()].map(partition => partition.asOf))
    if (this.#partitions.size === 0 || asOf <= this.#asOf) return false
    this.#asOf = asOf
    handlers.onCurrent(asOf)
    return true
  }

  #logOutage(failure: { readonly error: unknown } | undefined): void {
    const { clock, logger, topic } = this.#deps
    if (failure === undefined) {
      if (this.#outage?.isLogged === true) logger.info({ topic }, 'topic is followed again')
      this.#outage = undefined
      return
    }
    const code = codeOfThrown(failure.error)
    this.#outage ??= { since: clock.monotonic(), isLogged: false }
    const lastedMs = Math.round(clock.monotonic() - this.#outage.since)
    logger.debug({ topic, code, lastedMs }, 'fetch failed, trying again')
    if (lastedMs < logErrorAfterMs || this.#outage.isLogged) return
    this.#outage.isLogged = true
    logger.error({ topic, code, lastedMs }, 'topic cannot be followed: its new records are not known')
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

  /**
   * Moves positions that the log no longer has to its beginning: records deleted, or log truncated.
   */
  async #findPositions(): Promise<void> {
    const { topic, logger } = this.#deps
    for (const followed of this.#partitions.values()) {
      const { beginning, end } = await this.#rangeOf(followed.partition)
      if (followed.position >= beginning && followed.position <= end) continue
      const { partition, position } = followed
      logger.warn(
        { topic, partition, position, beginning, end },
        'the log does not have the position: reading from its beginning',
      )
      followed.moveTo(beginning)
    }
  }
}

/**
 * The position in one partition, and the time up to which it is read. Times are boot time in ms.
 */
export class FollowedPartition {
  readonly partition: number
  position: number
  /** All records acknowledged before this time are read. */
  asOf = Number.NEGATIVE_INFINITY
  /**
   * The end of the log in an earlier fetch, and its time. The follower reaches it also while
   * records are appended faster than they are read.
   */
  #goal: { readonly end: number; readonly at: number } | undefined

  constructor(partition: number, position: number) {
    this.partition = partition
    this.position = position
  }

  /**
   * Call it after a fetch begun `at` that returned all records up to `next` of a log ending at
   * `end`.
   */
  fetchedTo(next: number, end: number, at: number): void {
    this.position = next
    this.#goal ??= { end, at }
    if (next < this.#goal.end) return
    this.asOf = next >= end ? at : this.#goal.at
    this.#goal = next >= end ? undefined : { end, at }
  }

  /** Continues at another position, with no knowledge about the log there. */
  moveTo(position: number): void {
    this.position = position
    this.#goal = undefined
  }
}
