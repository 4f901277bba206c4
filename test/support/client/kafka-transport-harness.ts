import type { Batch, SendResult } from '../../../packages/client/src/transport.ts'
import { entryOf } from '../../../packages/client/src/validate-and-serialise-call.ts'
import { createKafkaTransport, type EventsTopic } from '../../../packages/client-kafka/src/kafka-transport.ts'
import type { Event } from '../../../src/core/message/event.ts'
import { ManualClientClock } from './sender-harness.ts'

/** A record that the transport appended. `event` is the event before its encoding. */
export interface Appended {
  readonly key: string
  readonly value: Buffer
  readonly event: Event
}

/** How Kafka responds to a record. `never`: it sends no response. */
export type Reply = Error | 'stored' | 'never'

/** An error of Kafka, in the form in which the Kafka adapter creates it. */
export const failure = (code: string, retriable?: boolean, message = 'it broke'): Error =>
  Object.assign(new Error(message), { code, ...(retriable !== undefined && { retriable }) })

/**
 * The Kafka transport on an in-memory topic. The client's clock is `machineAheadMs` ahead of the
 * brokers' time.
 */
export function transportOn(reply: (record: Appended, turn: number) => Reply = () => 'stored', machineAheadMs = 0) {
  const clock = new ManualClientClock()
  const appended: Appended[] = []
  const stored: Appended[] = []
  const openings: (Error | undefined)[] = []
  const tally = { opened: 0, closed: 0, flushed: 0 }
  let onClose: () => Promise<void> = async () => {}
  const events = new Map<Buffer, Event>()
  const topic: EventsTopic = {
    encode(event) {
      const value = Buffer.from(JSON.stringify(event))
      events.set(value, event)
      return value
    },
    append(key, value, _maySend, onAck) {
      const record = { key: String(key), value, event: events.get(value) as Event }
      appended.push(record)
      const answer = reply(record, appended.length)
      if (answer === 'never') return
      if (answer === 'stored') stored.push(record)
      queueMicrotask(() => onAck(answer === 'stored' ? undefined : answer))
    },
    flush() {
      tally.flushed += 1
    },
  }
  const transport = createKafkaTransport({
    sourceId: 'web',
    async open() {
      tally.opened += 1
      const error = openings.shift()
      if (error !== undefined) throw error
      return topic
    },
    close() {
      tally.closed += 1
      return onClose()
    },
    now: () => clock.now(),
    machineTime: () => clock.now() + machineAheadMs,
    hold: () => clock.keepAlive(),
  })
  return {
    transport,
    clock,
    appended,
    stored,
    tally,
    /** The next attempts to connect to Kafka fail, one with each of these errors. */
    failOpening(...errors: readonly Error[]): void {
      openings.push(...errors)
    },
    closeWith(close: () => Promise<void>): void {
      onClose = close
    },
    send: (batch: Batch, signal: AbortSignal = new AbortController().signal): Promise<SendResult> =>
      transport.send(batch, 0, signal),
  }
}

/**
 * A batch with a different user per message. `call` returns fields that replace or extend those of
 * a message.
 */
export function batchOf(count: number, call: (index: number) => object = () => ({})): Batch {
  const messages = Array.from({ length: count }, (_, index) => {
    const given = { userId: `u${index}`, event: 'E', messageId: `m${index}`, ...call(index) }
    return entryOf('track', given, { now: () => 0, newId: () => `new-${index}` })
  })
  return { id: 'batch', messages }
}
