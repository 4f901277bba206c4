import { type Event, keyOf } from '../../../src/core/message/event.ts'
import { normalise } from '../../../src/core/message/normalise.ts'
import type { Cancel } from '../../client/src/clock.ts'
import type { Trouble } from '../../client/src/failure.ts'
import type { Batch, RejectedMessage, SendResult, StopSignal, Transport } from '../../client/src/transport.ts'
import { library } from '../../client/src/version.ts'

/** The events topic, as far as a writer needs it. */
export interface EventsTopic {
  /** An event as the bytes of a record. */
  encode(event: Event): Buffer
  /** Queues a record; `onAck` is called once, without error only when all in-sync replicas have it. */
  append(key: Buffer, value: Buffer, onAck: (error: Error | undefined) => void): void
  /** What was queued goes now, and does not wait for more. */
  flush(): void
}

export interface KafkaTransportDeps {
  /** The source that all messages come from. */
  readonly sourceId: string
  /** Called before the first record, and again after it has failed. */
  readonly open: () => Promise<EventsTopic>
  /** Ends the connections, if there are any, once everything under way is answered. */
  readonly close: () => Promise<void>
  /** Milliseconds since 1970. */
  readonly now: () => Event['receivedAt']
  /** Keeps the process alive until it is cancelled: the connections do not. */
  readonly hold: () => Cancel
}

/** A message as a record, with its position in the batch. */
interface Outgoing {
  readonly index: number
  readonly key: Buffer
  readonly value: Buffer
}

/** How far a batch has come. The bytes are made once; on a retry only what is not known to be stored is written again. */
interface Progress {
  left: readonly Outgoing[]
  readonly rejected: readonly RejectedMessage[]
}

interface NotStored {
  readonly record: Outgoing
  readonly error: Error
}

/** What the body of an HTTP batch says for all of its messages: by whichever way it comes, a message is the same. */
const batchContext = { library }

/** Writes batches straight to the events topic, by the rules by which a collector takes messages in. */
export function createKafkaTransport({ sourceId, open, close, now, hold }: KafkaTransportDeps): Transport {
  const begun = new WeakMap<Batch, Progress>()
  let opened: Promise<EventsTopic> | undefined
  let closed: Promise<void> | undefined
  let underWay = 0

  function topic(): Promise<EventsTopic> {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  function begin({ messages }: Batch, encode: EventsTopic['encode']): Progress {
    const receivedAt = now()
    const left: Outgoing[] = []
    const rejected: RejectedMessage[] = []
    for (const [index, { text, messageId }] of messages.entries()) {
      const reception = { receivedAt, sentAt: undefined, batchContext, newId: () => messageId }
      const outcome = normalise(JSON.parse(text), reception)
      if (outcome.kind === 'rejected') {
        rejected.push({ index, code: outcome.code, detail: outcome.message })
        continue
      }
      const { message } = outcome
      const event: Event = {
        sourceId,
        destinationId: undefined,
        receivedAt,
        canonical: true,
        origin: undefined,
        message,
      }
      left.push({ index, key: Buffer.from(keyOf(message) ?? ''), value: encode(event) })
    }
    return { left, rejected }
  }

  async function write(batch: Batch): Promise<SendResult> {
    let to: EventsTopic
    try {
      to = await topic()
    } catch (error) {
      return mayPass(error) ? again(error) : { kind: 'refused', trouble: troubleOf(error) }
    }
    const progress = begun.get(batch) ?? begin(batch, to.encode)
    begun.set(batch, progress)
    const notStored = await appendAll(to, progress.left)
    progress.left = notStored.map(({ record }) => record)
    return resultOf(batch, progress.rejected, notStored)
  }

  return {
    envelopeBytes: 0,
    async send(batch, _retry, signal) {
      const stopped = abortOf(signal)
      const release = hold()
      underWay += 1
      // What is given up goes on behind: nothing takes a record back.
      const writing = write(batch).finally(() => {
        underWay -= 1
      })
      try {
        return await Promise.race([writing, stopped.result])
      } finally {
        release()
        stopped.forget()
      }
    },
    async close() {
      // It has nothing to report: every record has been answered, or given up.
      closed ??= close().catch(() => {})
      if (underWay === 0) await closed
    },
  }
}

/** Resolves when each record is answered, with those that are not stored. */
function appendAll(topic: EventsTopic, records: readonly Outgoing[]): Promise<readonly NotStored[]> {
  return new Promise(resolve => {
    const notStored: NotStored[] = []
    let unanswered = records.length
    if (unanswered === 0) resolve(notStored)
    for (const record of records)
      topic.append(record.key, record.value, error => {
        if (error !== undefined) notStored.push({ record, error })
        unanswered -= 1
        if (unanswered === 0) resolve(notStored)
      })
    topic.flush()
  })
}

function resultOf(
  { messages }: Batch,
  rejected: readonly RejectedMessage[],
  notStored: readonly NotStored[],
): SendResult {
  const passing = notStored.find(({ error }) => mayPass(error))
  if (passing !== undefined) return again(passing.error)
  const [first] = notStored
  if (first !== undefined && notStored.length === messages.length)
    return { kind: 'refused', trouble: troubleOf(first.error) }
  const refused = notStored.map(({ record: { index }, error }) => ({ index, ...troubleOf(error) }))
  return { kind: 'taken', rejected: [...rejected, ...refused] }
}

const again = (error: unknown): SendResult => ({ kind: 'retry', trouble: troubleOf(error), retryAfterMs: undefined })

/** What somebody has to change something for is final; whatever else it is, the messages are worth another try. */
function mayPass(error: unknown): boolean {
  const { code, retriable } = error as { code?: unknown; retriable?: unknown }
  return retriable !== false && code !== 'schema_not_registered'
}

const remedies: Readonly<Record<string, string>> = { TOPIC_MISSING: ': create it with `hookline topics apply`' }

function troubleOf(error: unknown): Trouble {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const name = typeof code === 'string' ? code : 'internal'
  return { code: name, detail: `Kafka did not take it: ${String(message ?? error)}${remedies[name] ?? ''}.` }
}

/** Resolves when the signal says so; `forget` it, or a signal of many tries collects listeners. */
function abortOf(signal: StopSignal): { readonly result: Promise<SendResult>; readonly forget: () => void } {
  const { promise, resolve } = Promise.withResolvers<SendResult>()
  const stop = (): void => resolve(again(new Error('it was given up')))
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return { result: promise, forget: () => signal.removeEventListener('abort', stop) }
}
