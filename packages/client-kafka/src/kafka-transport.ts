import { type Event, keyOf } from '../../../src/core/message/event.ts'
import { normalise } from '../../../src/core/message/normalise.ts'
import type { Cancel } from '../../client/src/clock.ts'
import type { FailureCause } from '../../client/src/failure.ts'
import type { Batch, RejectedMessage, SendResult, StopSignal, Transport } from '../../client/src/transport.ts'
import { library } from '../../client/src/version.ts'

/** Encodes and appends records for the events topic. */
export interface EventsTopic {
  encode(event: Event): Buffer
  /**
   * Queues a record, and calls `onAck` once with the result. The producer calls `maySend` before
   * each try to send the record. If `maySend` returns false, `onAck` gets a temporary error.
   */
  append(key: Buffer, value: Buffer, maySend: () => boolean, onAck: (error: Error | undefined) => void): void
  /** Sends the queued records without waiting for a larger batch. */
  flush(): void
}

export interface KafkaTransportDeps {
  readonly sourceId: string
  /**
   * Connects to Kafka and the schema registry. Called before the first record. If it rejects, it is
   * called again at the next attempt to send a batch.
   */
  readonly open: () => Promise<EventsTopic>
  /** Closes the connections after all records in progress are acknowledged or failed. */
  readonly close: () => Promise<void>
  /** Unix time in milliseconds, corrected by the time of the brokers. */
  readonly now: () => Event['receivedAt']
  /**
   * The time of this machine (Unix milliseconds), with which the client stamps messages. The
   * timestamps are corrected by the difference between this time and `now`. `undefined` until the
   * first response of a broker: the brokers' time is unknown, so timestamps are not corrected.
   */
  readonly machineTime: () => number | undefined
  /**
   * Keeps the process alive until the returned function is called. Connections to Kafka do not keep
   * the process alive.
   */
  readonly hold: () => Cancel
}

/** The record of a message, with its position in the batch. */
interface Outgoing {
  readonly index: number
  readonly key: Buffer
  readonly value: Buffer
}

/** The progress of a batch, which is encoded once. A retry writes only unacknowledged records. */
interface Progress {
  left: readonly Outgoing[]
  readonly rejected: readonly RejectedMessage[]
}

interface NotStored {
  readonly record: Outgoing
  readonly error: Error
}

/** The context that is added to each message, as in the HTTP transport. */
const batchContext = { library }

/** Writes batches to the events topic, with the same validation and format as the collector. */
export function createKafkaTransport({ sourceId, open, close, now, machineTime, hold }: KafkaTransportDeps): Transport {
  const begun = new WeakMap<Batch, Progress>()
  let opened: Promise<EventsTopic> | undefined
  let closed: Promise<void> | undefined
  let inProgress = 0

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
      const reception = { receivedAt, sentAt: machineTime(), batchContext, newId: () => messageId }
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
      const trouble = troubleOf(error, 'No message was written to Kafka')
      return isTemporary(error) ? retryResult(trouble) : { kind: 'refused', trouble }
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
      inProgress += 1
      // `writing` continues after `signal` is aborted, because the producer cannot withdraw a
      // queued record. The caller then gets the result of `stopped` immediately.
      const writing = write(batch).finally(() => {
        inProgress -= 1
      })
      try {
        return await Promise.race([writing, stopped.result])
      } finally {
        release()
        stopped.forget()
      }
    },
    async close() {
      // Errors are ignored, because every batch already has its result. The connections close only
      // after the last write. So this method does not wait for them while an aborted write is in
      // progress.
      closed ??= close().catch(() => {})
      if (inProgress === 0) await closed
    },
  }
}

/**
 * Appends records, and resolves with those that were not stored. Stops at a temporary failure:
 * otherwise, the next attempt would write the failed record after later records of its user.
 */
function appendAll(topic: EventsTopic, records: readonly Outgoing[]): Promise<readonly NotStored[]> {
  return new Promise(resolve => {
    const notStored: NotStored[] = []
    let pending = records.length
    let hasFailed = false
    const maySend = (): boolean => !hasFailed
    // If all messages were rejected, resolve in a later iteration of the event loop: otherwise, an
    // `onFailure` that queues them again would block the event loop.
    if (pending === 0) setImmediate(resolve, notStored)
    for (const record of records)
      topic.append(record.key, record.value, maySend, error => {
        if (error !== undefined) {
          notStored.push({ record, error })
          hasFailed ||= isTemporary(error)
        }
        pending -= 1
        if (pending === 0) resolve(notStored)
      })
    topic.flush()
  })
}

function resultOf(
  { messages }: Batch,
  rejected: readonly RejectedMessage[],
  notStored: readonly NotStored[],
): SendResult {
  const temporary = notStored.find(({ error }) => isTemporary(error))
  if (temporary !== undefined) return retryResult(troubleOf(temporary.error))
  const [first] = notStored
  if (first !== undefined && notStored.length === messages.length)
    return { kind: 'refused', trouble: troubleOf(first.error) }
  const isNoneStored = rejected.length + notStored.length === messages.length
  const refused = notStored.map(({ record: { index }, error }) => ({
    index,
    ...(isNoneStored && { reason: 'refused' as const }),
    ...troubleOf(error),
  }))
  return { kind: 'taken', rejected: [...rejected, ...refused] }
}

const retryResult = (trouble: FailureCause): SendResult => ({ kind: 'retry', trouble, retryAfterMs: undefined })

/**
 * Whether a retry may succeed. A missing schema is a permanent error: every retry fails until an
 * operator registers the schema.
 */
function isTemporary(error: unknown): boolean {
  const { code, retriable } = error as { code?: unknown; retriable?: unknown }
  return retriable !== false && code !== 'schema_not_registered'
}

const remedies: Readonly<Record<string, string>> = { TOPIC_MISSING: '; create it with: hookline topics apply' }

function troubleOf(error: unknown, problem = 'Kafka did not acknowledge the message'): FailureCause {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const name = typeof code === 'string' ? code : 'internal'
  return {
    code: name,
    detail: `${problem}: ${String(message ?? error)}${remedies[name] ?? ''}.`,
  }
}

/**
 * `result` resolves with a `retry` result when the signal is aborted. Call `forget` after each
 * batch, to remove the listener from the signal.
 */
function abortOf(signal: StopSignal): { readonly result: Promise<SendResult>; readonly forget: () => void } {
  const { promise, resolve } = Promise.withResolvers<SendResult>()
  const stop = (): void => resolve(retryResult(troubleOf(new Error('the client stopped waiting'))))
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return { result: promise, forget: () => signal.removeEventListener('abort', stop) }
}
