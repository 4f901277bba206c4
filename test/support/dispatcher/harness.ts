import type { ObjectChange } from '../../../src/core/config-objects/config-objects.ts'
import { defaultSuppressionRetention } from '../../../src/core/default-suppression-retention.ts'
import { encodeSuppressions, type Suppression } from '../../../src/core/deletion/suppressions.ts'
import { createRouting } from '../../../src/core/delivery/route.ts'
import type { Event } from '../../../src/core/message/event.ts'
import type { Message } from '../../../src/core/message/message.ts'
import type { LogProducer, RecordHeaders } from '../../../src/core/ports.ts'
import { Secret } from '../../../src/core/secret.ts'
import type {
  CanarySettings,
  DeliverySettings,
  Destination,
  NoticesSettings,
  Source,
} from '../../../src/core/settings/settings.ts'
import { type DurationMs, durationMs, type EpochMs } from '../../../src/core/time.ts'
import { tiersOf, topicNames } from '../../../src/core/topics.ts'
import type { Tracer } from '../../../src/core/trace/tracer.ts'
import type { CallResult, TokenAnswer, WebhookCall, WebhookTransport } from '../../../src/core/webhook-ports.ts'
import { createSuppressionList, type SuppressionList } from '../../../src/services/deletion/suppression-list.ts'
import { createDispatcherService, type DispatcherService } from '../../../src/services/dispatcher/dispatcher.ts'
import { JsonEventCodec } from '../kafka/json-codec.ts'
import type { MemoryFollower } from '../kafka/memory-follower.ts'
import { type MemoryConsumer, MemoryLog } from '../kafka/memory-log.ts'
import { ManualClock } from '../manual-clock.ts'
import { countingMetrics } from '../telemetry/counting-metrics.ts'
import { type Line, RecordingLogger } from '../telemetry/recording-logger.ts'

export const ok: CallResult = { kind: 'answered', status: 200, retryAfter: undefined }
export const answered = (status: number, retryAfter?: string): CallResult => ({ kind: 'answered', status, retryAfter })

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
export const defaultSchedule = [
  10 * second,
  30 * second,
  minute,
  5 * minute,
  15 * minute,
  30 * minute,
  hour,
  hour,
  hour,
].map(durationMs)

export const destination = (id: string, override: Partial<Destination> = {}): Destination => ({
  id,
  enabled: true,
  paused: false,
  sources: ['web'],
  secrets: [],
  webhooks: [{ label: '0', url: `https://${id}.example.com/`, urlHash: '00000000', headers: {}, traceHeaders: false }],
  ...override,
})

interface Options {
  /** Partitions of each topic. By default 1. */
  readonly partitions?: number
  readonly destinations?: readonly Destination[]
  readonly answer?: (call: WebhookCall, at: EpochMs) => CallResult | 'never'
  /** Time in ms from a request to its response. By default 0. */
  readonly latencyMs?: (call: WebhookCall) => number
  /** Whether a request finds an idle connection. By default, each does. */
  readonly hasIdleConnection?: WebhookTransport['hasIdleConnection']
  /** Response to a token request of a destination with `auth.oauth2`. */
  readonly answerToken?: (call: WebhookCall) => TokenAnswer | 'never'
  readonly delivery?: Partial<DeliverySettings>
  readonly attemptProducer?: LogProducer
  readonly tracer?: Tracer
  /** Returns the end of the latest period in which the process lacked CPU, in monotonic ms. */
  readonly cpuSaturatedUntil?: () => number
}

const noTokens = (): never => {
  throw new Error('the test has no authorization server')
}

/** The real dispatcher service on an in-memory log, a scripted transport and a manual clock. */
export class DispatcherHarness {
  readonly clock = new ManualClock()
  readonly log: MemoryLog
  readonly topics = topicNames('hookline')
  readonly codec = new JsonEventCodec()
  readonly calls: { call: WebhookCall; at: EpochMs }[] = []
  readonly tokenRequests: WebhookCall[] = []
  readonly counts = new Map<string, number>()
  destinations: readonly Destination[]
  sources: readonly Source[] = [{ id: 'web', writeKeys: [new Secret('key')] }]
  /** Number of partitions that the process reads. Default: all partitions of the log. */
  partitions: number | undefined
  canary: CanarySettings | undefined
  notices: NoticesSettings | undefined
  changeObject: (change: ObjectChange) => void = () => undefined
  service: DispatcherService
  follower: MemoryFollower
  marks: SuppressionList
  live: MemoryConsumer
  retries: MemoryConsumer
  readonly #logger = new RecordingLogger()
  readonly #create: () => DispatcherService
  readonly #consume: () => { live: MemoryConsumer; retries: MemoryConsumer }
  #answers: (() => void)[] = []
  /** Aborted when the simulated process ends, so that its timers have no effect. */
  #life = new AbortController()

  constructor({
    partitions = 1,
    destinations = [destination('crm')],
    answer = () => ok,
    latencyMs = () => 0,
    hasIdleConnection = () => true,
    answerToken = noTokens,
    delivery,
    ...more
  }: Options = {}) {
    this.log = new MemoryLog(this.clock, partitions)
    this.destinations = destinations
    const settings: DeliverySettings = {
      timeout: durationMs(5 * second),
      schedule: defaultSchedule,
      window: durationMs(4 * hour),
      ordering: 'key',
      transport: 'got',
      maxInFlight: 100,
      perWebhook: 50,
      perHost: 50,
      attemptsTopic: 'all',
      ...delivery,
    }
    ;({ follower: this.follower, marks: this.marks } = this.#follow())
    this.#consume = () => ({
      live: this.log.consumer('live', () => [this.topics.events]),
      retries: this.log.consumer('retries', () => tiersOf(settings.schedule).map(this.topics.retry)),
    })
    ;({ live: this.live, retries: this.retries } = this.#consume())
    this.#create = () => {
      const { signal } = this.#life
      return createDispatcherService({
        live: this.live,
        retries: this.retries,
        readEndOffsets: topic => this.log.endOffsets(topic),
        countPartitions: async () => this.partitions ?? this.log.partitionNumbers.length,
        producer: this.#producer(),
        codec: this.codec,
        encodeInput: input => Buffer.from(JSON.stringify(input)),
        suppressions: this.marks,
        cpuSaturatedUntil: () => Number.NEGATIVE_INFINITY,
        attemptProducer: undefined,
        tracer: undefined,
        ...more,
        canary: () => this.canary,
        notices: () => this.notices,
        onObjectChange: listener => (this.changeObject = listener),
        transport: {
          post: (call, onEnd) => {
            if (signal.aborted) return
            const at = this.clock.now()
            this.calls.push({ call, at })
            const result = answer(call, at)
            if (result === 'never') return
            const latency = latencyMs(call)
            if (latency === 0) this.#answers.push(() => onEnd(result))
            else this.clock.after(latency, () => void (signal.aborted || this.#answers.push(() => onEnd(result))))
          },
          hasIdleConnection,
          close: async () => {},
        },
        tokenClient: {
          post: (call, onEnd) => {
            this.tokenRequests.push(call)
            const result = answerToken(call)
            if (result !== 'never') this.#answers.push(() => onEnd(result))
          },
          close: () => {},
        },
        clock: this.clock,
        metrics: countingMetrics(this.counts),
        logger: this.#logger,
        topics: this.topics,
        delivery: settings,
        routing: () => createRouting({ sources: this.sources, destinations: this.destinations }),
        payload: () => ({
          userAgent: 'Hookline',
          messageIdHeader: true,
          anonymousId: 'fallback',
          standardWebhooks: false,
        }),
      })
    }
    this.service = this.#create()
  }

  static async started(options: Options = {}): Promise<DispatcherHarness> {
    const harness = new DispatcherHarness(options)
    await harness.marks.start()
    await harness.service.start()
    return harness
  }

  /** Starts a new process. The old one neither finishes its deliveries nor commits offsets. */
  async restart(): Promise<void> {
    this.#life.abort()
    this.#life = new AbortController()
    this.#answers = []
    this.live.kill()
    this.retries.kill()
    await this.follower.stop()
    ;({ live: this.live, retries: this.retries } = this.#consume())
    ;({ follower: this.follower, marks: this.marks } = this.#follow())
    this.service = this.#create()
    await this.marks.start()
    await this.service.start()
  }

  get lines(): readonly Line[] {
    return this.#logger.lines
  }

  write(event: Partial<Event> & { message: Message }, headers: RecordHeaders = {}): void {
    const whole: Event = {
      sourceId: 'web',
      destinationId: undefined,
      receivedAt: this.clock.now(),
      canonical: true,
      origin: undefined,
      ...event,
    }
    const { origin, receivedAt, message } = whole
    // Without a suppression, the dispatcher treats a delete message as forged.
    if (origin?.kind === 'deletion' && message.userId !== undefined)
      this.mark(message.userId, { source: whole.sourceId, deletedAt: receivedAt, isSuppressed: false })
    this.log.write(this.topics.events, this.codec.encode(whole), message.userId ?? null, headers)
  }

  advance(duration: DurationMs | number): Promise<void> {
    return this.clock.advance(duration, () => this.#settle())
  }

  /** Writes suppressions of a user, which stop the deliveries of the user's messages. */
  mark(userId: string, ...marks: Suppression[]): void {
    this.log.write(this.topics.suppressions, Buffer.from(encodeSuppressions(marks)), userId)
  }

  written(topic: string): readonly unknown[] {
    return this.log.records(topic).map(({ value }) => JSON.parse(String(value)))
  }

  count(key: string): number {
    return this.counts.get(key) ?? 0
  }

  /** The value of a gauge that the service sets only before a scrape. */
  gauge(key: string): number | undefined {
    this.service.refreshGauges()
    return this.counts.get(key)
  }

  #producer(): LogProducer {
    const producer = this.log.producer()
    const { signal } = this.#life
    return { ...producer, append: (...given) => (signal.aborted ? undefined : producer.append(...given)) }
  }

  #follow(): { follower: MemoryFollower; marks: SuppressionList } {
    const topic = this.topics.suppressions
    const follower = this.log.follower(topic)
    const deps = { follower, producer: this.#producer(), topic, clock: this.clock, logger: this.#logger }
    return { follower, marks: createSuppressionList({ ...deps, retention: defaultSuppressionRetention }) }
  }

  /** Responds to requests and delivers records until the dispatcher is idle. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      const answers = this.#answers.splice(0)
      for (const answer of answers) answer()
      const moved = this.log.poll()
      await new Promise(resolve => setImmediate(resolve))
      quiet = answers.length > 0 || moved ? 0 : quiet + 1
    }
  }
}
