import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createSourceKeys } from '../../../src/core/collector/source-keys.ts'
import type { TrackingApi, TrackingRequest } from '../../../src/core/collector/tracking-api.ts'
import { SuppressionIndex } from '../../../src/core/deletion/suppressions.ts'
import type { Event } from '../../../src/core/message/event.ts'
import type { Message } from '../../../src/core/message/message.ts'
import type { EventCodec, LogProducer, OutgoingRecord } from '../../../src/core/ports.ts'
import { Secret } from '../../../src/core/secret.ts'
import { topicNames } from '../../../src/core/topics.ts'
import { type CollectorDeps, createCollectorService } from '../../../src/services/collector/collector.ts'
import { Conditions } from '../awaited-conditions.ts'
import { countingMetrics } from '../telemetry/counting-metrics.ts'
import { silent } from '../telemetry/silent-logger.ts'

const topics = topicNames('hookline')
const codec: EventCodec = {
  encode: event => Buffer.from(JSON.stringify(event)),
  decode: () => ({ kind: 'undecodable', detail: 'the collector only writes' }),
  learn: async () => false,
}

/** The real collector behind its routes. Its producer records and acknowledges every record. */
export class RecordingCollector implements TrackingApi {
  readonly requests: TrackingRequest[] = []
  readonly #records: { readonly topic: string; readonly record: OutgoingRecord }[] = []
  readonly #changes = new Conditions()
  readonly #service: TrackingApi

  constructor(sources: Readonly<Record<string, string>>, deps: Partial<CollectorDeps> = {}) {
    const keys = createSourceKeys(Object.entries(sources).map(([id, key]) => ({ id, writeKeys: [new Secret(key)] })))
    const service = createCollectorService({
      ...{ producer: this.#producer(), codec, clock, topics, metrics: countingMetrics(new Map()), logger: silent },
      suppressions: new SuppressionIndex(),
      sources: () => keys,
      ratePerSource: undefined,
      memory: {
        bodies: { authenticated: 64 * 1_048_576, keyless: 64 * 1_048_576, perAddress: 128 * 1_048_576 },
        operators: 64 * 1_048_576,
        records: 64 * 1_048_576,
        rejected: 64 * 1_048_576,
      },
      ...deps,
    })
    service.listening()
    this.#service = service
  }

  accept(request: TrackingRequest): ReturnType<TrackingApi['accept']> {
    this.requests.push(request)
    return this.#service.accept(request)
  }
  isWriteKey = (key: string): boolean => this.#service.isWriteKey(key)
  admit: TrackingApi['admit'] = key => this.#service.admit(key)
  openBody: TrackingApi['openBody'] = (owner, onEvicted) => this.#service.openBody(owner, onEvicted)
  reserve = (bytes: number): boolean => this.#service.reserve(bytes)
  release = (bytes: number): void => this.#service.release(bytes)

  events(): readonly Event[] {
    return this.#on(topics.events).map(({ value }) => JSON.parse(String(value)) as Event)
  }
  messages(): readonly Message[] {
    return this.events().map(({ message }) => message)
  }
  /** The original texts of rejected messages. */
  rejects(): readonly string[] {
    return this.#on(topics.rejected).map(({ value }) => JSON.parse(String(value)).text as string)
  }
  until(condition: () => boolean): Promise<void> {
    return this.#changes.until(condition)
  }
  forget(): void {
    this.requests.length = 0
    this.#records.length = 0
  }

  #on(topic: string): readonly OutgoingRecord[] {
    return this.#records.filter(each => each.topic === topic).map(({ record }) => record)
  }

  #producer(): LogProducer {
    return {
      append: (topic, record, onAck) => {
        this.#records.push({ topic, record })
        queueMicrotask(() => onAck(undefined))
        this.#changes.changed()
      },
      flush: async () => {},
      stop: async () => {},
    }
  }
}
