import { createSourceKeys, type SourceKeys } from '../../../src/core/collector/source-keys.ts'
import type { TrackingAnswer, TrackingRequest } from '../../../src/core/collector/tracking-api.ts'
import { SuppressionIndex } from '../../../src/core/deletion/suppressions.ts'
import type { Event } from '../../../src/core/message/event.ts'
import type { EventCodec, Logger } from '../../../src/core/ports.ts'
import { Secret } from '../../../src/core/secret.ts'
import { topicNames } from '../../../src/core/topics.ts'
import type { Tracer } from '../../../src/core/trace/tracer.ts'
import {
  type CollectorDeps,
  type CollectorService,
  createCollectorService,
} from '../../../src/services/collector/collector.ts'
import { ScriptedProducer } from '../kafka/scripted-producer.ts'
import { ManualClock } from '../manual-clock.ts'
import { countingMetrics } from '../telemetry/counting-metrics.ts'

const jsonCodec: EventCodec = {
  encode: event => Buffer.from(JSON.stringify(event)),
  decode: () => ({ kind: 'undecodable', detail: 'the collector only writes' }),
  learn: async () => false,
}

/** The real collector service on a scripted producer and a manual clock. */
export class CollectorHarness {
  readonly clock = new ManualClock()
  readonly producer = new ScriptedProducer()
  readonly topics = topicNames('hookline')
  readonly counts = new Map<string, number>()
  readonly lines: string[] = []
  readonly marks = new SuppressionIndex()
  readonly service: CollectorService
  sources: SourceKeys = createSourceKeys([
    { id: 'web', writeKeys: [new Secret('web-key')] },
    { id: 'app', writeKeys: [new Secret('app-key')] },
  ])

  constructor({
    ratePerSource,
    memory = {},
    tracer,
  }: { ratePerSource?: number; memory?: Partial<CollectorDeps['memory']>; tracer?: Tracer } = {}) {
    const level = (name: string) => (_fields: object, line: string) => void this.lines.push(`${name}: ${line}`)
    const logger: Logger = {
      isLevelEnabled: () => true,
      debug: level('debug'),
      info: level('info'),
      warn: level('warn'),
      error: level('error'),
    }
    this.service = createCollectorService({
      producer: this.producer,
      codec: jsonCodec,
      suppressions: this.marks,
      clock: this.clock,
      metrics: countingMetrics(this.counts),
      logger,
      topics: this.topics,
      sources: () => this.sources,
      ratePerSource,
      tracer,
      memory: {
        bodies: { authenticated: 1_000, keyless: 100, perAddress: 10_000 },
        operators: 1_000,
        records: 4_000_000,
        rejected: 4_000_000,
        ...memory,
      },
    })
    this.service.listening()
  }

  /** Starts a request. The returned object gets the response later. */
  request(body: unknown, given: Partial<TrackingRequest> = {}): { answer: TrackingAnswer | undefined } {
    const box: { answer: TrackingAnswer | undefined } = { answer: undefined }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const { headerKey } = { headerKey: 'web-key', ...given }
    const request: TrackingRequest = {
      type: undefined,
      headerKey,
      queryKey: undefined,
      sourceId: headerKey === undefined ? undefined : this.sources.sourceOf(headerKey),
      body: text,
      assign: () => true,
      reserve: () => true,
      canEverReserve: () => true,
      strict: false,
      receivedAt: this.clock.now(),
      ...given,
    }
    void this.service.accept(request).then(answer => {
      box.answer = answer
    })
    return box
  }

  /** Like `request`, but Kafka acknowledges all records immediately. */
  async answered(body: unknown, given: Partial<TrackingRequest> = {}): Promise<TrackingAnswer | undefined> {
    const box = this.request(body, given)
    // The collector parses a large body in many iterations of the event loop.
    for (let turns = 0; turns < 1_000 && box.answer === undefined; turns += 1) {
      await this.settle()
      this.producer.answer()
    }
    await this.settle()
    return box.answer
  }

  settle(): Promise<void> {
    return new Promise(resolve => setImmediate(resolve))
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms, () => this.settle())
  }

  events(): readonly Event[] {
    return this.producer.records(this.topics.events).map(({ value }) => JSON.parse(String(value)) as Event)
  }

  rejects(): readonly Record<string, unknown>[] {
    return this.producer.records(this.topics.rejected).map(({ value }) => JSON.parse(String(value)))
  }

  count(key: string): number {
    return this.counts.get(key) ?? 0
  }

  /** Number of bytes that the collector keeps in memory. */
  held(what: 'bodies' | 'records' | 'rejected'): number {
    this.service.refreshGauges()
    return this.count(`collectorHeldBytes{${what}}`)
  }

  readyFailures(): readonly string[] {
    return this.service.health().ready.flatMap(({ name, ok }) => (ok ? [] : [name]))
  }
}
