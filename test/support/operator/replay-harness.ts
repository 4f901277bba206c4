import { identifyOf } from '../../../src/core/audience/identify-message.ts'
import type { AudienceInput } from '../../../src/core/audience/input.ts'
import { deadLetterRecord } from '../../../src/core/delivery/dead-letter-record.ts'
import type { DeliveryState } from '../../../src/core/delivery/delivery-state.ts'
import { LiveDeadLetters } from '../../../src/core/delivery/live-dead-letters.ts'
import type { DeadLetterReason } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import type { ReplayContext } from '../../../src/core/delivery/replay-decision.ts'
import { createRouting } from '../../../src/core/delivery/route.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../src/core/message/event.ts'
import type { EventCodec, LogRecord, OutgoingRecord, TopicReader, ValueCodec } from '../../../src/core/ports.ts'
import { topicNames } from '../../../src/core/topics.ts'
import {
  type ReplayOptions,
  type ReplayReport,
  replayDeadLetters,
} from '../../../src/services/operator/replay-dead-letters.ts'
import { carriedOf, defaultPolicy, destinationOf, eventOf, recordOf, sourceOf, start } from '../builders.ts'
import { MemoryTopics, MemoryTopicsProducer, whileWriting } from '../kafka/memory-topics-for-replays.ts'
import { ManualClock } from '../manual-clock.ts'

export const topics = topicNames('hookline')
export const firstTier = 'hookline.retry.10s'

/** The destinations `crm` and `shop` are configured, and `gone` is not. */
export const context: ReplayContext = {
  topics,
  routing: createRouting({
    sources: [sourceOf('web')],
    destinations: [destinationOf(), destinationOf({ id: 'shop' })],
  }),
  policy: defaultPolicy,
}

/** The dead letter of a failed delivery of the nth event. */
export function givenUp(n: number, destination = 'crm', given: Partial<DeliveryState> = {}): OutgoingRecord {
  const origin = { ...carriedOf().origin, partition: n % 2, offset: n }
  const carried = carriedOf({ destination, messageId: `m-${n}`, origin, attempt: 10, ...given })
  const record = recordOf({ ...origin, value: eventsAsJson.encode(eventOf()) })
  return deadLetterRecord(record, carried, 'retries_exhausted')
}

/** Like `givenUp`, for an event of this source. */
export function deliveryOf(n: number, sourceId: string, destination = 'crm'): OutgoingRecord {
  const origin = { ...carriedOf().origin, partition: n % 2, offset: n }
  const carried = carriedOf({ destination, messageId: `m-${n}`, origin, attempt: 10 })
  const record = recordOf({ ...origin, value: eventsAsJson.encode(eventOf({ sourceId })) })
  return deadLetterRecord(record, carried, 'retries_exhausted')
}

/** The dead letter of the nth event, without a destination. */
export function refusedEvent(n: number, reason: DeadLetterReason = 'undecodable'): OutgoingRecord {
  return deadLetterRecord(recordOf({ partition: n % 2, offset: n, key: Buffer.from(`user-${n}`) }), undefined, reason)
}

/** The dead letter of a failed delivery of the nth change of an audience. */
export function changeGivenUp(n: number, destination = 'crm'): OutgoingRecord {
  const { record, names } = changeOf(n, destination)
  return deadLetterRecord(record, carriedOf({ ...names, attempt: 10 }), 'retries_exhausted')
}

/** The dead letter of the nth change of an audience, whose destination was not configured. */
export function changeRefused(n: number, destination = 'crm'): OutgoingRecord {
  const { record, names } = changeOf(n, destination)
  return deadLetterRecord(record, names, 'unknown_destination')
}

function changeOf(n: number, destination: string) {
  const key = { audience: 'First time shopper', userId: `user-${n}`, destination }
  const event = identifyOf(key, 'first_time_shopper', { version: 7, value: 'true' as JsonText }, start)
  const origin = { ...carriedOf().origin, partition: n % 2, offset: 1_000 + n }
  const record = recordOf({ ...origin, key: Buffer.from(key.userId), value: eventsAsJson.encode(event) })
  return { record, names: { destination, messageId: event.message.messageId, origin } }
}

/** Decodes values only after `learn` has fetched the schema. */
const eventsAsJson: EventCodec & { isLearnt: boolean } = {
  isLearnt: false,
  encode: event => Buffer.from(JSON.stringify(event)),
  decode(value) {
    if (!this.isLearnt) return { kind: 'schema_needed', schemaId: 1 }
    const text = value.toString()
    if (!text.startsWith('{')) return { kind: 'undecodable', detail: 'not JSON' }
    return { kind: 'event', event: JSON.parse(text) as Event }
  },
  async learn() {
    this.isLearnt = true
    return true
  },
}

const inputsAsJson: ValueCodec<AudienceInput> = {
  encode: input => Buffer.from(JSON.stringify(input)),
  decode: value => ({ kind: 'value', value: JSON.parse(value.toString()) as AudienceInput }),
  learn: async () => true,
}

interface Given extends Partial<ReplayOptions> {
  readonly refuses?: MemoryTopicsProducer['refuses']
  readonly reader?: TopicReader
  readonly events?: () => Promise<EventCodec>
}

export class ReplayHarness {
  readonly clock = new ManualClock(start)
  readonly memoryTopics = new MemoryTopics(() => this.clock.now())

  constructor(deadLetters: readonly OutgoingRecord[]) {
    for (const each of deadLetters) this.giveUp(each)
  }

  opened = 0

  readonly events = async (): Promise<EventCodec> => {
    this.opened++
    return eventsAsJson
  }

  readonly inputs = async (): Promise<ValueCodec<AudienceInput>> => {
    this.opened++
    return inputsAsJson
  }

  readonly countPartitions = async (): Promise<number> => this.memoryTopics.partitions

  giveUp(deadLetter: OutgoingRecord): void {
    this.memoryTopics.write(topics.deadLetter, deadLetter)
  }

  /** Starts a replay. The test controls its producer. */
  begin(given: Given = {}): { readonly producer: MemoryTopicsProducer; readonly work: Promise<ReplayReport> } {
    const { refuses, reader = this.memoryTopics.reader(), events = this.events, ...options } = given
    const producer = new MemoryTopicsProducer(this.memoryTopics, refuses)
    const { clock, inputs, countPartitions } = this
    const deps = { reader, producer, clock, context, events, inputs, countPartitions }
    const defaults = { filter: {}, signal: new AbortController().signal }
    return { producer, work: replayDeadLetters(deps, { ...defaults, ...options }) }
  }

  replay(given: Given = {}): Promise<ReplayReport> {
    const { producer, work } = this.begin(given)
    return whileWriting(producer, work)
  }

  /**
   * The records in the retry topic with the shortest wait: destination, message id, and number of
   * replays (`round`).
   */
  get parked(): readonly string[] {
    const records = this.memoryTopics.records(firstTier)
    return records.map(({ headers }) => `${headers['destination']} ${headers['message-id']} ${headers['round']}`)
  }

  /** The dead letters that were not replayed yet. */
  get standing(): readonly LogRecord[] {
    const records = this.memoryTopics.records(topics.deadLetter)
    const last = new LiveDeadLetters()
    for (const record of records) last.add(record)
    return records.filter(record => last.has(record))
  }
}
