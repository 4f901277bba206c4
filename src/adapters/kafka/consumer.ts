import type { Consumer, ConsumerConfig } from 'kafkajs'
import { pause } from '../../core/pause.ts'
import type { Clock, LogConsumer, LogConsumerHandlers, Logger, TopicPartition } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'
import { cooperativeAssigner } from './assigner.ts'
import type { LostPosition } from './assignment.ts'
import { consumerRetry, type KafkaClient, metadataMaxAgeMs } from './client.ts'
import { type CommitResult, type Commits, createCommits } from './commits.ts'
import { Contact } from './contact.ts'
import { codeOfThrown, KafkaError, kafkaError } from './errors.ts'
import { type FetchSize, usualFetch } from './fetch-size.ts'
import { handOver } from './hand-over.ts'
import type { Batch, Cluster } from './internals.ts'
import { Member } from './member.ts'
import { Partitions } from './partitions.ts'
import { setGroupHooks } from './patches/group-hooks.ts'
import { subscribe } from './subscribe.ts'

export interface ConsumerDeps {
  readonly kafka: KafkaClient
  readonly groupId: string
  readonly topics: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
  /** The consumer has ended and will not start again: the process has to exit. */
  readonly onFatal: (error: KafkaError) => void
  readonly onPositionLost: (loss: LostPosition) => void
  /** Told of each request to commit. */
  readonly onCommit?: (result: CommitResult) => void
  /** How old the view of partitions and leaders may be; half a minute. */
  readonly metadataMaxAgeMs?: number
  /** How long a broker keeps a fetch that it has nothing for: each costs by the number of partitions. A rebalance is noticed by then. */
  readonly maxWait: DurationMs
  /**
   * The same while any partition is paused or given up, or the group is joined: what is fetched again after that is not in that fetch, and
   * waits for its end. `maxWait`, unless it is given.
   */
  readonly maxWaitWhilePaused?: DurationMs
  /** `usualFetch`, unless it is given. */
  readonly fetch?: FetchSize
}

const groupTiming = { sessionTimeout: 6_000, heartbeatInterval: 500, rebalanceTimeout: 15_000 }
/** How long the last commit is tried for. */
const stopLimitMs = 10_000
const stopAgainAfter = durationMs(50)

/** A member of a group, on kafkajs; `start` rejects with a KafkaError (`TOPIC_MISSING`, `ECONNREFUSED`, …). */
export function createConsumer(deps: ConsumerDeps): LogConsumer {
  return new GroupConsumer(deps)
}

/** What exists from `start` on. */
interface Parts {
  readonly consumer: Consumer
  readonly member: Member
  readonly commits: Commits
}

class GroupConsumer implements LogConsumer {
  readonly #deps: ConsumerDeps
  readonly #owned = new Partitions()
  readonly #joined = Promise.withResolvers<void>()
  #parts: Parts | undefined
  #hasJoined = false
  /** Nothing is handed over any more. */
  #isClosed = false
  #hasBug = false
  #stopped: Promise<void> | undefined
  readonly #contact: Contact

  constructor(deps: ConsumerDeps) {
    this.#deps = deps
    this.#contact = new Contact(deps.clock)
    this.#joined.promise.catch(() => undefined)
  }

  async start(handlers: LogConsumerHandlers): Promise<void> {
    const { groupId, topics } = this.#deps
    if (this.#parts !== undefined) throw new Error(`consumer of ${groupId} started twice`)
    this.#parts = this.#build(handlers)
    const { consumer } = this.#parts
    try {
      await consumer.connect()
      for (const topic of topics) await subscribe(consumer, topic)
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: ({ batch, resolveOffset }) => this.#take(batch as unknown as Batch, resolveOffset, handlers),
      })
      await this.#joined.promise
      this.#hasJoined = true
    } catch (error) {
      await this.#leave()
      throw kafkaError(`group ${groupId} cannot be joined`, error)
    }
  }

  pause(partition: TopicPartition): void {
    const owned = this.#owned.get(partition)
    if (owned === undefined || owned.paused) return
    owned.paused = true
    this.#parts?.member.settled?.pause([{ topic: owned.topic, partitions: [owned.partition] }])
  }

  resume(partition: TopicPartition): void {
    const owned = this.#owned.get(partition)
    if (owned === undefined || !owned.paused) return
    owned.paused = false
    if (owned.isLeaving) return
    this.#parts?.member.settled?.resume([{ topic: owned.topic, partitions: [owned.partition] }])
  }

  seek(partition: TopicPartition, offset: number): void {
    const owned = this.#owned.get(partition)
    if (owned === undefined) return
    owned.next = offset
    this.#parts?.member.settled?.seek({ topic: owned.topic, partition: owned.partition, offset: String(offset) })
  }

  isConfirmed(): boolean {
    return this.#parts?.member.isConfirmed ?? false
  }

  silence(): DurationMs {
    return this.#contact.silence()
  }

  inactivity(): DurationMs {
    return this.#contact.inactivity()
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
        'stopped without a last commit: some records will come again',
      )
    await this.#leave()
  }

  #build(handlers: LogConsumerHandlers): Parts {
    const { clock, logger, onCommit } = this.#deps
    const owned = this.#owned
    const member: Member = new Member({
      ...this.#deps,
      owned,
      handlers,
      flush: (group, limit) => commits.flush(group, limit),
      take: batch => this.#take(batch, () => undefined, handlers),
      onJoined: this.#joined.resolve,
    })
    const commits = createCommits({
      owned,
      positions: () => handlers.positions(),
      group: () => member.settled,
      onCommit,
      clock,
      logger,
    })
    const consumer = createKafkajsConsumer(this.#deps, member, () => this.#contact.noteTry())
    consumer.on(consumer.events.REQUEST, ({ payload }) => this.#contact.noteAnswer(payload.apiName))
    consumer.on(consumer.events.REQUEST_TIMEOUT, () => this.#contact.noteTry())
    consumer.on(consumer.events.CRASH, ({ payload }) => this.#onCrash(payload, member))
    commits.start()
    return { consumer, member, commits }
  }

  #onCrash({ error, restart }: { error: Error; restart: boolean }, member: Member): void {
    const { groupId, logger, onFatal } = this.#deps
    member.forget()
    if (this.#isClosed) return
    const crash = kafkaError(`consumer of ${groupId} has crashed`, error)
    if (restart) logger.warn({ group: groupId, code: crash.code }, `${crash.message}; it starts again`)
    else if (this.#hasJoined) onFatal(crash)
    else this.#joined.reject(crash)
  }

  /** Nothing may be thrown into kafkajs, which would try the same for ever. What a handler throws is a bug and ends the process. */
  async #take(batch: Batch, resolve: (offset: string) => void, handlers: LogConsumerHandlers): Promise<void> {
    const partition = this.#owned.get(batch)
    if (partition === undefined) return
    const isOurs = (): boolean => !this.#isClosed && !partition.isLeaving && this.#owned.get(partition) === partition
    try {
      await handOver(batch, partition, isOurs, handlers)
      if (isOurs()) resolve(String(partition.next - 1))
    } catch (cause) {
      this.#isClosed = true
      this.#hasBug = true
      this.#parts?.commits.stop()
      const line = `records of ${batch.topic}/${batch.partition} cannot be handed over`
      this.#deps.onFatal(new KafkaError(line, { code: 'BUG', retriable: false, cause }))
    }
  }

  async #commitLast({ member, commits }: Parts): Promise<boolean> {
    const { clock } = this.#deps
    const deadline = clock.monotonic() + stopLimitMs
    for (let left = stopLimitMs; left > 0; left = deadline - clock.monotonic()) {
      const group = await member.untilSettled(durationMs(left))
      if (group !== undefined && (await commits.flush(group, durationMs(left)))) return true
      await pause(clock, stopAgainAfter)
    }
    return false
  }

  async #leave(): Promise<void> {
    this.#isClosed = true
    const { groupId, logger } = this.#deps
    this.#parts?.commits.stop()
    this.#parts?.member.end()
    await this.#parts?.consumer.disconnect().catch((error: unknown) => {
      logger.debug({ group: groupId, code: codeOfThrown(error) }, 'left the group without a word')
    })
    this.#joined.reject(new KafkaError(`consumer of ${groupId} is stopped`, { code: 'CLOSED', retriable: false }))
  }
}

function createKafkajsConsumer(deps: ConsumerDeps, member: Member, onDial: () => void): Consumer {
  const { inPartition: maxBytesPerPartition, inAll: maxBytes } = deps.fetch ?? usualFetch
  const config: ConsumerConfig = {
    groupId: deps.groupId,
    ...groupTiming,
    ...{ maxBytesPerPartition, maxBytes },
    maxWaitTimeInMs: deps.maxWait,
    metadataMaxAge: deps.metadataMaxAgeMs ?? metadataMaxAgeMs,
    allowAutoTopicCreation: false,
    retry: consumerRetry,
    partitionAssigners: [
      config => {
        // The only place where kafkajs shows which cluster is this consumer's.
        setGroupHooks(config.cluster as unknown as Cluster, member)
        return cooperativeAssigner(member)(config)
      },
    ],
  }
  return deps.kafka.consumer(config, onDial)
}
