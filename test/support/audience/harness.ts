import { type AudienceDirectory, audienceDirectory } from '../../../src/core/audience/configured-audiences.ts'
import { valueIn } from '../../../src/core/audience/identify-message.ts'
import { type AudienceInput, inputUser } from '../../../src/core/audience/input.ts'
import type { MembershipRecord } from '../../../src/core/audience/membership-and-watermark-records.ts'
import { SuppressionIndex } from '../../../src/core/deletion/suppressions.ts'
import type { ReportedResult } from '../../../src/core/message/delivered-or-undelivered.ts'
import type { Event } from '../../../src/core/message/event.ts'
import type {
  EventCodec,
  LogProducer,
  OutgoingRecord,
  PartitionReader,
  RecordHeaders,
} from '../../../src/core/ports.ts'
import { type DurationMs, durationMs } from '../../../src/core/time.ts'
import { topicNames } from '../../../src/core/topics.ts'
import type { Tracer } from '../../../src/core/trace/tracer.ts'
import { type AudiencesService, createAudiencesService } from '../../../src/services/audiences/audiences.ts'
import { reportOf } from '../../../src/services/dispatcher/report-for-audience-or-deletion.ts'
import { destinationOf, start } from '../builders.ts'
import { consumerWhileAlive } from '../kafka/ignore-consumer-calls-after-kill.ts'
import { JsonValueCodec } from '../kafka/json-codec.ts'
import { MemoryLog } from '../kafka/memory-log.ts'
import { ManualClock } from '../manual-clock.ts'
import { countingMetrics } from '../telemetry/counting-metrics.ts'
import { type Line, RecordingLogger } from '../telemetry/recording-logger.ts'
import { audience } from './partition-harness.ts'

interface Write {
  readonly topic: string
  readonly record: OutgoingRecord
  readonly onAck: Parameters<LogProducer['append']>[2]
}

/** What the dispatcher reports about an identify message. It reports nothing for `silent`. */
export type Fate = ReportedResult | 'silent'

export interface Sent {
  readonly id: string
  readonly destination: string
  readonly userId: string
  readonly value: string
}

interface Options {
  readonly partitions?: number
  readonly fate?: (sent: Sent) => Fate
  readonly emitPerSecond?: number
  readonly tracer?: Tracer
}

/**
 * The real audiences service on an in-memory log and a manual clock. A kill is possible between any
 * two writes.
 */
export class AudiencesHarness {
  readonly clock = new ManualClock(start)
  readonly log: MemoryLog
  readonly topics = topicNames('hookline')
  readonly marks = new SuppressionIndex()
  /** The suppression list may lack deletions of the last `marksAge`. */
  marksAge = durationMs(0)
  readonly counts = new Map<string, number>()
  readonly consumer
  readonly inputs = new JsonValueCodec<AudienceInput>()
  readonly memberships = new JsonValueCodec<MembershipRecord>()
  readonly events = new JsonValueCodec<Event>()
  destinations = ['crm']
  audiences: readonly string[] = [audience]
  headers: RecordHeaders = {}
  emitPerSecond: number
  reader: PartitionReader
  readonly written: string[] = []
  /** While true, Kafka acknowledges no write, and writes wait in the producer. */
  isFrozen = false
  writesLeft = Number.POSITIVE_INFINITY
  readonly #fate: (sent: Sent) => Fate
  readonly #emitted: Event[] = []
  readonly #tracer: Tracer | undefined
  readonly #logger = new RecordingLogger()
  readonly lines: readonly Line[] = this.#logger.lines
  #pending: Write[] = []
  #reported = 0
  #generation = 0
  #service: AudiencesService

  constructor({ partitions = 1, fate = () => 'delivered', emitPerSecond = 1_000_000, tracer }: Options = {}) {
    this.#tracer = tracer
    this.log = new MemoryLog(this.clock, partitions)
    this.consumer = this.log.consumer('audiences', () => [this.topics.audienceInput])
    this.reader = this.log.reader()
    this.emitPerSecond = emitPerSecond
    this.#fate = fate
    this.#service = this.#create()
  }

  static async started(options: Options = {}): Promise<AudiencesHarness> {
    const harness = new AudiencesHarness(options)
    await harness.service.start()
    await harness.advance(0)
    return harness
  }

  get service(): AudiencesService {
    return this.#service
  }

  get isDead(): boolean {
    return this.writesLeft <= 0
  }

  /** Starts a new process. The old one neither finishes its inputs nor commits offsets. */
  async restart(): Promise<void> {
    this.#pending = []
    this.writesLeft = Number.POSITIVE_INFINITY
    this.#service = this.#create()
    await this.#service.start()
    await this.advance(0)
  }

  write(...inputs: readonly AudienceInput[]): void {
    for (const input of inputs) {
      const user = inputUser(input)
      const value = this.inputs.encode(input)
      if (user !== undefined) this.log.write(this.topics.audienceInput, value, user, this.headers)
      else
        for (const partition of this.log.partitionNumbers)
          this.log.writeTo(partition, this.topics.audienceInput, value, this.headers)
    }
  }

  advance(duration: DurationMs | number): Promise<void> {
    return this.clock.advance(duration, () => this.#settle())
  }

  sent(): readonly Sent[] {
    return this.#emitted.map(sentBy)
  }

  count(key: string): number {
    return this.counts.get(key) ?? 0
  }

  committed(partition = 0): number {
    return this.log.committed('audiences', this.topics.audienceInput, partition)
  }

  #directory(): AudienceDirectory {
    const list = this.audiences.map(name => ({ name, kind: 'audience' as const, destinations: this.destinations }))
    return audienceDirectory({
      audiences: { emitPerSecond: 1, list },
      destinations: ['crm', 'erp'].map(id => destinationOf({ id })),
    })
  }

  #create(): AudiencesService {
    const generation = ++this.#generation
    const isAlive = (): boolean => generation === this.#generation
    return createAudiencesService({
      consumer: consumerWhileAlive(this.consumer, isAlive),
      reader: {
        readPartition: (...asked) => this.reader.readPartition(...asked),
        endOf: partition => this.reader.endOf(partition),
      },
      readEndOffsets: topic => this.log.endOffsets(topic),
      producer: this.#producer(isAlive),
      codecs: { events: this.events as unknown as EventCodec, inputs: this.inputs, memberships: this.memberships },
      clock: this.clock,
      metrics: countingMetrics(this.counts),
      logger: this.#logger,
      topics: this.topics,
      directory: () => this.#directory(),
      emitPerSecond: () => this.emitPerSecond,
      suppressions: { stops: (about, now) => this.marks.stops(about, now), age: () => this.marksAge },
      tracer: this.#tracer,
    })
  }

  #producer(isAlive: () => boolean): LogProducer {
    return {
      append: (topic, record, onAck) => {
        if (isAlive()) this.#pending.push({ topic, record, onAck })
      },
      flush: async () => {},
      stop: async () => {},
    }
  }

  /** Lets Kafka process the oldest waiting write. Returns false if none can be processed. */
  #takeWrite(): boolean {
    const write = this.isDead || this.isFrozen ? undefined : this.#pending.shift()
    if (write === undefined) return false
    const { topic, record, onAck } = write
    if (record.maySend?.() === false) {
      onAck(new Error('held back'))
      return true
    }
    const answer: Write['onAck'] = (error, offset) => {
      if (error === undefined) this.#count(topic, record)
      if (!this.isDead) onAck(error, offset)
    }
    this.log.producer().append(topic, record, answer)
    return true
  }

  #count(topic: string, { value }: OutgoingRecord): void {
    this.written.push(topic)
    this.writesLeft--
    if (topic === this.topics.events) this.#emitted.push(JSON.parse(String(value)) as Event)
  }

  #report(): void {
    const events = this.#emitted.slice(this.#reported)
    this.#reported += events.length
    for (const event of events) {
      const sent = sentBy(event)
      const fate = this.#fate(sent)
      if (fate === 'silent') continue
      const report = reportOf(event, sent.destination, fate === 'delivered' ? 'delivered' : 'retries_exhausted')
      if (report?.kind === 'audience') this.write(report.input)
    }
  }

  /** Runs all pending work until the service is idle. A dead process reads nothing. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      const hasWritten = this.#takeWrite()
      const hasMoved = this.isDead ? this.log.answer() : this.log.poll()
      this.#report()
      await new Promise(resolve => setImmediate(resolve))
      quiet = hasWritten || hasMoved ? 0 : quiet + 1
    }
  }
}

function sentBy({ message, destinationId = '' }: Event): Sent {
  const { messageId: id, userId = '', traits } = message
  return { id, destination: destinationId, userId, value: valueIn(traits) }
}
