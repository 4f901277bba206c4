import type { Clock, Logger, TopicFollower, TopicFollowerHandlers } from '../../../core/ports.ts'
import { durationMs, type EpochMs } from '../../../core/time.ts'
import { within } from '../../../core/within-time-limit.ts'
import { type KafkaClient, metadataMaxAgeMs } from '../kafkajs/client.ts'
import { errorCodeOf, KafkaError, toKafkaError } from '../kafkajs/errors.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import { fetchFrom, maxRetries, retryDelay } from './fetch-from-broker.ts'
import { connectAndListPartitions, createClusterClient, leaderOf } from './kafkajs-cluster-without-group.ts'
import { fetchOffsetRange, fetchOffsetSince, type OffsetRange } from './partition-offsets.ts'
import { toLogRecord } from './to-log-record.ts'

export interface FollowerDeps {
  readonly kafka: KafkaClient
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
  /**
   * Where to begin: at the end of each partition, or at the first record at or after this time.
   * Defaults to the beginning.
   */
  readonly from?: 'end' | EpochMs
  /** Kafka's `metadata.max.age.ms`; 30 s by default. */
  readonly metadataMaxAgeMs?: number
}

/**
 * How long a broker may wait for records. A follower that has read all records calls `onCurrent` at
 * about this interval.
 */
const maxWaitMs = 500
/**
 * When the follower is further behind than this, its fetches do not wait for records: a broker
 * without new records would delay the next fetch from the other brokers.
 */
const behindMs = 2 * maxWaitMs
/**
 * How long fetches must fail before the follower logs an error. Leader elections and restarts of
 * brokers take less time.
 */
const logErrorAfterMs = 5_000
const unreadable =
  'hookline cannot read this topic, or some of its partitions (see "topic" and "code"), so new records there wait; hookline retries; if the problem lasts for minutes, check Kafka with: hookline doctor'
/** How long `stop` waits for the fetch in progress. */
const stopLimit = durationMs(2_000)

/**
 * Creates a follower, which reads all partitions of a topic without a consumer group, and waits for
 * new records. After `start` has resolved, failed fetches are retried forever.
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
  /** The current series of failed fetches, if any. */
  #outage: { readonly since: number; isLogged: boolean } | undefined

  constructor(deps: FollowerDeps) {
    this.#deps = deps
    this.#cluster = createClusterClient(deps.kafka)
  }

  async start(handlers: TopicFollowerHandlers): Promise<void> {
    const { topic } = this.#deps
    const current = Promise.withResolvers<void>()
    this.#running = this.#run(handlers, current)
    try {
      await current.promise
    } catch (error) {
      throw toKafkaError(`cannot read topic ${topic}`, error)
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    await within(this.#deps.clock, stopLimit, this.#running, () => undefined)
  }

  async #run(handlers: TopicFollowerHandlers, current: PromiseWithResolvers<void>): Promise<void> {
    try {
      await connectAndListPartitions(this.#cluster, this.#deps.topic)
      await this.#follow(handlers, current.resolve)
      throw new KafkaError(`hookline stopped reading ${this.#deps.topic} before it had read all records`, {
        code: 'CLOSED',
        retriable: false,
      })
    } catch (error) {
      current.reject(error)
    } finally {
      await this.#cluster.disconnect()
    }
  }

  /**
   * Fetches until `stop` is called.
   * @throws the error of the last retry. After the follower has first reached the end of the topic,
   *   it retries forever instead
   */
  async #follow(handlers: TopicFollowerHandlers, onFirst: () => void): Promise<void> {
    let attempt = 0
    while (!this.#isStopped) {
      const before = this.#progress
      const failure = await this.#fetchOnce(handlers).catch((error: unknown) => ({ error }))
      if (this.#isStopped) return
      const isFurther = this.#reportProgress(handlers) || this.#progress !== before
      attempt = isFurther ? 0 : attempt + 1
      if (this.#asOf > Number.NEGATIVE_INFINITY) onFirst()
      else if (attempt > maxRetries)
        throw failure?.error ?? new Error('fetches returned no records, although a partition has more records')
      this.#logOutage(failure)
      if (failure !== undefined || attempt > 0) await this.#recover(handlers, failure?.error, attempt)
    }
  }

  /** The sum of all positions, which changes with each record that is read. */
  get #progress(): number {
    return [...this.#partitions.values()].reduce((sum, { position }) => sum + position, 0)
  }

  /**
   * Fetches once from each leader and handles all successful responses. Resolves with the error of
   * a failed fetch, or with `undefined`.
   */
  async #fetchOnce(handlers: TopicFollowerHandlers): Promise<{ readonly error: unknown } | undefined> {
    await this.#findPartitions(handlers)
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
        for (const message of records) handlers.onRecord(toLogRecord(topic, partition, message))
        this.#partitions.get(partition)?.fetchedTo(next, end, at)
      }
    })
    const failed = (await Promise.allSettled(fetches)).find(({ status }) => status === 'rejected')
    return failed && { error: (failed as PromiseRejectedResult).reason }
  }

  /**
   * Adds the partitions that are not followed yet. Kafka never removes a partition, so if a
   * followed partition is missing, the topic was created again.
   */
  async #findPartitions(handlers: TopicFollowerHandlers): Promise<void> {
    const { clock, topic } = this.#deps
    const now = clock.monotonic()
    if (now - this.#metadataAt < (this.#deps.metadataMaxAgeMs ?? metadataMaxAgeMs)) return
    const isFirst = this.#metadataAt === Number.NEGATIVE_INFINITY
    if (!isFirst) await this.#cluster.refreshMetadata()
    const found = this.#cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
    if ([...this.#partitions.keys()].some(partition => !found.includes(partition))) {
      for (const partition of this.#partitions.keys()) handlers.onTruncated?.(partition)
      this.#partitions.clear()
    }
    for (const partitionId of found) {
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
    return from === 'end' ? end : ((await fetchOffsetSince(this.#cluster, { topic, partition }, from)) ?? end)
  }

  #rangeOf(partition: number): Promise<OffsetRange> {
    return fetchOffsetRange(this.#cluster, this.#deps.topic, partition)
  }

  /**
   * Calls `onCurrent` and returns true if the time up to which all partitions are read has
   * advanced.
   */
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
      if (this.#outage?.isLogged === true) logger.info({ topic }, 'hookline can read this topic again (see "topic")')
      this.#outage = undefined
      return
    }
    const code = errorCodeOf(failure.error)
    this.#outage ??= { since: clock.monotonic(), isLogged: false }
    const lastedMs = Math.round(clock.monotonic() - this.#outage.since)
    logger.debug({ topic, code, lastedMs }, 'fetching records from Kafka failed; hookline retries')
    if (lastedMs < logErrorAfterMs || this.#outage.isLogged) return
    this.#outage.isLogged = true
    logger.error({ topic, code, lastedMs }, unreadable)
  }

  async #recover(handlers: TopicFollowerHandlers, error: unknown, attempt: number): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve
      this.#deps.clock.after(durationMs(retryDelay(attempt)), resolve)
    })
    if (this.#isStopped) return
    await this.#cluster.refreshMetadata().catch(() => undefined)
    if (errorCodeOf(error) === 'OFFSET_OUT_OF_RANGE') await this.#findPositions(handlers).catch(() => undefined)
  }

  /**
   * Moves positions that are out of range to the beginning of the log: retention has deleted unread
   * records, or the log was truncated.
   */
  async #findPositions(handlers: TopicFollowerHandlers): Promise<void> {
    const { topic, logger } = this.#deps
    for (const followed of this.#partitions.values()) {
      const { beginning, end } = await this.#rangeOf(followed.partition)
      if (followed.position >= beginning && followed.position <= end) continue
      const { partition, position } = followed
      logger.warn(
        { topic, partition, position, beginning, end },
        'Kafka deleted records of this partition or truncated its log, so hookline may have missed records; hookline continues at the first existing record (see "beginning") instead of the offset in "position"; check the settings of the topic with: hookline topics check',
      )
      followed.moveTo(beginning)
      if (position > end) handlers.onTruncated?.(partition)
    }
  }
}

/**
 * The position in one partition, and the time up to which it is read, in milliseconds of
 * `Clock.boottime`.
 */
export class FollowedPartition {
  readonly partition: number
  position: number
  /** All records that were acknowledged before this time are read. */
  asOf = Number.NEGATIVE_INFINITY
  /**
   * The end of the log at the time `at` of an earlier fetch. When the follower reaches this end,
   * `asOf` advances. While producers append, the follower might never reach the current end.
   */
  #goal: { readonly end: number; readonly at: number } | undefined

  constructor(partition: number, position: number) {
    this.partition = partition
    this.position = position
  }

  fetchedTo(next: number, end: number, at: number): void {
    this.position = next
    this.#goal ??= { end, at }
    if (next < this.#goal.end) return
    this.asOf = next >= end ? at : this.#goal.at
    this.#goal = next >= end ? undefined : { end, at }
  }

  /**
   * Continues at another position. The partition then counts as unread: the follower must not
   * report progress while it reads the log again.
   */
  moveTo(position: number): void {
    this.position = position
    this.asOf = Number.NEGATIVE_INFINITY
    this.#goal = undefined
  }
}
