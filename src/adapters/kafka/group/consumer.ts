import type { Consumer, ConsumerConfig } from 'kafkajs'
import type { Clock, LogConsumer, LogConsumerHandlers, Logger, TopicPartition } from '../../../core/ports.ts'
import { sleep } from '../../../core/sleep-and-yield.ts'
import { type DurationMs, durationMs } from '../../../core/time.ts'
import { consumerRetry, type KafkaClient, metadataMaxAgeMs } from '../kafkajs/client.ts'
import { consumerStopped, errorCodeOf, KafkaError, toKafkaError, topicMissing } from '../kafkajs/errors.ts'
import { setGroupHooks } from '../kafkajs/patch-consumer-group.ts'
import type { Cluster, FetchedBatch } from '../kafkajs/private-api.ts'
import { cooperativeAssignor } from './assignor.ts'
import { BrokerContact } from './broker-contact.ts'
import { type CommitResult, type Commits, createCommits } from './commits.ts'
import { deliverBatch } from './deliver-batch.ts'
import { defaultFetchSize, type FetchSize } from './fetch-size-limits.ts'
import { GroupMembership } from './group-membership.ts'
import type { LostPosition } from './lost-position.ts'
import { OwnedPartitions } from './owned-partitions.ts'

export interface ConsumerDeps {
  readonly kafka: KafkaClient
  readonly groupId: string
  readonly topics: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
  /** Called when the consumer has failed permanently. The process must then exit. */
  readonly onFatal: (error: KafkaError) => void
  /** Called when the log no longer has the offset to fetch next. */
  readonly onPositionLost: (loss: LostPosition) => void
  /**
   * Repeats the requests of `start` until the brokers can answer them. Without this function,
   * `start` rejects with the error of the first failed request. A failed join is always repeated.
   */
  readonly repeatUntilAnswered?: (ask: () => Promise<void>) => Promise<void>
  /** If this signal is aborted before the consumer has joined, `start` rejects. */
  readonly stopAsked?: AbortSignal
  /** Called after each OffsetCommit request, with its result. */
  readonly onCommit?: (result: CommitResult) => void
  /** Kafka's `metadata.max.age.ms`; 30 s by default. */
  readonly metadataMaxAgeMs?: number
  /**
   * Kafka's `fetch.max.wait.ms`. A shorter time costs more CPU. With a longer time, the consumer
   * notices a rebalance later, because heartbeats wait for fetches.
   */
  readonly maxWait: DurationMs
  /**
   * Replaces `maxWait` while a partition is paused or being revoked, and during a rebalance. It
   * should be shorter than `maxWait`, because a partition that resumes during a fetch waits until
   * the fetch ends. Defaults to `maxWait`.
   */
  readonly maxWaitWhilePaused?: DurationMs
  /** Defaults to `defaultFetchSize`. */
  readonly fetch?: FetchSize
}

const groupTiming = { sessionTimeout: 6_000, heartbeatInterval: 500, rebalanceTimeout: 15_000 }
/** Time limit of the last commit, before the consumer leaves the group. */
const lastCommitLimitMs = 10_000
const lastCommitRetryAfter = durationMs(50)

/**
 * Creates a member of a consumer group. `group-membership.ts` describes its states. `start` rejects
 * with a KafkaError (`TOPIC_MISSING`, `ECONNREFUSED`, …).
 */
export function createConsumer(deps: ConsumerDeps): LogConsumer {
  return new GroupConsumer(deps)
}

interface Parts {
  readonly consumer: Consumer
  readonly membership: GroupMembership
  readonly commits: Commits
}

class GroupConsumer implements LogConsumer {
  readonly #deps: ConsumerDeps
  readonly #owned = new OwnedPartitions()
  readonly #joined = Promise.withResolvers<void>()
  #parts: Parts | undefined
  #hasJoined = false
  /** Whether the consumer has stopped delivering records. */
  #isClosed = false
  #hasBug = false
  #stopped: Promise<void> | undefined
  readonly #contact: BrokerContact

  constructor(deps: ConsumerDeps) {
    this.#deps = deps
    this.#contact = new BrokerContact(deps.clock)
    this.#joined.promise.catch(() => undefined)
  }

  async start(handlers: LogConsumerHandlers): Promise<void> {
    const { groupId, topics, repeatUntilAnswered = ask => ask(), stopAsked } = this.#deps
    if (this.#parts !== undefined) throw new Error(`consumer of group ${groupId} was started twice`)
    this.#parts = this.#build(handlers)
    const { consumer } = this.#parts
    stopAsked?.addEventListener('abort', () => this.#joined.reject(consumerStopped(groupId)))
    try {
      await repeatUntilAnswered(async () => {
        await consumer.connect()
        for (const topic of topics) await subscribe(consumer, topic)
      })
      const running = consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: ({ batch, resolveOffset }) =>
          this.#deliver(batch as unknown as FetchedBatch, resolveOffset, handlers),
      })
      await Promise.all([running, this.#joined.promise])
      this.#hasJoined = true
    } catch (error) {
      await this.#leave()
      throw toKafkaError(`cannot join group ${groupId}`, error)
    }
  }

  pause(partition: TopicPartition): void {
    const owned = this.#owned.get(partition)
    if (owned === undefined || owned.paused) return
    owned.paused = true
    this.#parts?.membership.settled?.pause([{ topic: owned.topic, partitions: [owned.partition] }])
  }

  resume(partition: TopicPartition): void {
    const owned = this.#owned.get(partition)
    if (owned === undefined || !owned.paused) return
    owned.paused = false
    if (owned.isRevoking || owned.isUnreadable === true) return
    this.#parts?.membership.settled?.resume([{ topic: owned.topic, partitions: [owned.partition] }])
  }

  seek(partition: TopicPartition, offset: number): void {
    const owned = this.#owned.get(partition)
    if (owned === undefined) return
    owned.next = offset
    const { topic } = owned
    this.#parts?.membership.settled?.seek({ topic, partition: owned.partition, offset: String(offset) })
  }

  holdsLease(): boolean {
    return this.#parts?.membership.holdsLease ?? false
  }

  timeSinceContact(): DurationMs {
    return this.#contact.msSinceLastContact()
  }

  inactivity(): DurationMs {
    return this.#contact.msSinceLastAttempt()
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#isClosed = true
    if (this.#parts === undefined) return
    for (const partition of this.#owned.all()) this.pause(partition)
    const isDue = this.#owned.all().length > 0 && !this.#hasBug
    if (isDue && !(await this.#commitLast(this.#parts)))
      this.#deps.logger.warn(
        { group: this.#deps.groupId },
        'this process could not commit its last offsets before it stopped, so the processes that take over its partitions may read some records again, and endpoints may receive some events twice',
      )
    await this.#leave()
  }

  #build(handlers: LogConsumerHandlers): Parts {
    const { clock, logger, onCommit, onPositionLost, maxWait, maxWaitWhilePaused } = this.#deps
    const owned = this.#owned
    const membership: GroupMembership = new GroupMembership({
      owned,
      handlers,
      flush: (group, limit) => commits.flush(group, limit),
      deliver: batch => this.#deliver(batch, () => undefined, handlers),
      onJoined: this.#joined.resolve,
      maxWait,
      maxWaitWhilePaused,
      onPositionLost,
      clock,
      logger,
    })
    const commits = createCommits({
      owned,
      positions: () => handlers.positions(),
      group: () => membership.committable,
      onCommit,
      clock,
      logger,
    })
    const consumer = createKafkajsConsumer(this.#deps, membership, () => this.#contact.recordAttempt())
    consumer.on(consumer.events.REQUEST, ({ payload }) => this.#contact.recordAnswer(payload.apiName))
    consumer.on(consumer.events.REQUEST_TIMEOUT, () => this.#contact.recordAttempt())
    consumer.on(consumer.events.CRASH, ({ payload }) => this.#onCrash(payload, membership))
    commits.start()
    return { consumer, membership, commits }
  }

  #onCrash({ error, restart }: { error: Error; restart: boolean }, membership: GroupMembership): void {
    const { groupId, logger, onFatal } = this.#deps
    membership.forget()
    if (this.#isClosed) return
    const crash = toKafkaError(`consumer of group ${groupId} crashed`, error)
    if (restart)
      logger.warn(
        { group: groupId, code: crash.code },
        `${crash.message}; hookline restarts the consumer; until then, unread records wait in Kafka`,
      )
    else if (this.#hasJoined) onFatal(crash)
    else this.#joined.reject(crash)
  }

  /**
   * Delivers one batch. It must not throw, because kafkajs would retry the batch forever. A handler
   * throws only because of a bug; the process then exits.
   */
  async #deliver(batch: FetchedBatch, resolve: (offset: string) => void, handlers: LogConsumerHandlers): Promise<void> {
    const partition = this.#owned.get(batch)
    if (partition === undefined) return
    const isOwned = (): boolean => !this.#isClosed && !partition.isRevoking && this.#owned.get(partition) === partition
    try {
      await deliverBatch(batch, partition, isOwned, handlers)
      if (isOwned()) resolve(String(partition.next - 1))
    } catch (cause) {
      this.#isClosed = true
      this.#hasBug = true
      this.#parts?.commits.stop()
      const line = `bug: the handler of records from ${batch.topic}/${batch.partition} threw an error; report this line`
      this.#deps.onFatal(new KafkaError(line, { code: 'BUG', retriable: false, cause }))
    }
  }

  async #commitLast({ membership, commits }: Parts): Promise<boolean> {
    const { clock } = this.#deps
    const deadline = clock.monotonic() + lastCommitLimitMs
    let remaining = lastCommitLimitMs
    for (; remaining > 0; remaining = deadline - clock.monotonic()) {
      const group = await membership.untilSettled(durationMs(remaining))
      if (group !== undefined && (await commits.flush(group, durationMs(remaining)))) return true
      await sleep(clock, lastCommitRetryAfter)
    }
    return false
  }

  async #leave(): Promise<void> {
    this.#isClosed = true
    const { groupId, logger } = this.#deps
    this.#parts?.commits.stop()
    this.#parts?.membership.end()
    await this.#parts?.consumer.disconnect().catch((error: unknown) => {
      logger.debug(
        { group: groupId, code: errorCodeOf(error) },
        'the consumer could not leave its group cleanly; Kafka may reassign its partitions only after the session timeout',
      )
    })
    this.#joined.reject(consumerStopped(groupId))
  }
}

function createKafkajsConsumer(deps: ConsumerDeps, membership: GroupMembership, onDial: () => void): Consumer {
  const { perPartition, total } = deps.fetch ?? defaultFetchSize
  const config: ConsumerConfig = {
    groupId: deps.groupId,
    ...groupTiming,
    maxBytesPerPartition: perPartition,
    maxBytes: total,
    maxWaitTimeInMs: deps.maxWait,
    metadataMaxAge: deps.metadataMaxAgeMs ?? metadataMaxAgeMs,
    allowAutoTopicCreation: false,
    retry: consumerRetry,
    partitionAssigners: [
      config => {
        // The hooks are set here because only an assignor gets the cluster client.
        setGroupHooks(config.cluster as unknown as Cluster, membership)
        return cooperativeAssignor(membership)(config)
      },
    ],
  }
  return deps.kafka.consumer(config, onDial)
}

/**
 * Subscribes to a topic. Partitions without a committed offset are read from the beginning.
 * @throws KafkaError `TOPIC_MISSING`
 */
async function subscribe(consumer: Consumer, topic: string): Promise<void> {
  try {
    await consumer.subscribe({ topic, fromBeginning: true })
  } catch (error) {
    throw errorCodeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION' ? topicMissing(topic, error) : error
  }
}
