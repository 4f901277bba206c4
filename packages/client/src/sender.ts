import type { Cancel } from './clock.ts'
import type { Counts } from './counts.ts'
import { Closed, QueueFull } from './errors.ts'
import { type Failure, type FailureCause, type FailureReason, failureOf } from './failure.ts'
import {
  type BatchLimits,
  type Entry,
  MessageQueue,
  maxBatchBytes,
  maxBatchMessages,
  type Queued,
} from './message-queue.ts'
import type { QueueSettings } from './options.ts'
import { type AttemptDeps, attempt } from './send-with-retries.ts'
import type { RejectedMessage, SendResult } from './transport.ts'
import { WaitingCallers } from './waiting-callers.ts'

/**
 * Batches have the maximum size while more than `catchUpBatches` batches of `size` messages wait.
 */
const catchUpBatches = 10

export interface SenderDeps extends Omit<AttemptDeps, 'maxRetries'> {
  readonly settings: Pick<
    QueueSettings,
    'size' | 'flushAfter' | 'maxRetries' | 'maxQueueMessages' | 'maxQueueBytes' | 'onFull'
  >
  readonly onSent: (messages: readonly Entry[]) => void
  readonly onFailure: (failure: Failure) => void
  /** Called with `true` at the first unsent message, and with `false` when none is left. */
  readonly onBusy: (busy: boolean) => void
}

const resolved = Promise.resolve()

/**
 * Sends queued messages over the transport: one batch at a time, in order. Each message is reported
 * exactly once, as sent, failed or dropped.
 */
export class Sender {
  readonly #deps: SenderDeps
  readonly #queue = new MessageQueue()
  readonly #awaited: WaitingCallers
  /**
   * Batches without a result. The first is being sent. The others are the remaining parts of a
   * batch that was too large.
   */
  #unfinishedBatches: (readonly Queued[])[] = []
  #abort: AbortController | undefined
  #running = false
  #closed = false
  /**
   * Messages up to this sequence number are sent immediately. Later ones wait for a full batch or
   * for the flush timer.
   */
  #flushTo = 0
  #lastFlushAt = Number.NEGATIVE_INFINITY
  /** When a message was last queued in an empty queue, in monotonic milliseconds. */
  #waitingSince = 0
  #cancelTimer: Cancel | undefined
  /** The reason of the failure that `onFailure` is handling now. */
  #reportedReason: FailureReason | undefined
  #sent = 0
  #failed = 0
  #dropped = 0

  constructor(deps: SenderDeps) {
    this.#deps = deps
    this.#awaited = new WaitingCallers(() => deps.clock.keepAlive())
  }

  get counts(): Counts {
    const unfinished = this.#unfinishedBatches.reduce((sum, batch) => sum + batch.length, 0)
    const waiting = this.#queue.length + unfinished
    return {
      queued: this.#queue.lastSequenceNumber,
      sent: this.#sent,
      failed: this.#failed,
      dropped: this.#dropped,
      waiting,
    }
  }

  /**
   * UTF-8 bytes of the queued messages. The batch that is being sent, at most 500,000 bytes, does
   * not count.
   */
  get queuedBytes(): number {
    return this.#queue.bytes
  }

  assertOpen(): void {
    // After its time limit, `drain` reports all messages as failed. A listener that queues them
    // again would extend `drain`, so calls throw during the reports.
    if (this.#closed || this.#reportedReason === 'out_of_time') throw new Closed()
  }

  /**
   * Queues a message. With `onFull: 'wait'` the promise resolves when the queue has room again.
   * @throws QueueFull, Closed
   */
  add(entry: Entry): Promise<void> {
    this.assertOpen()
    const dropped = this.#makeRoom(entry.bytes)
    const wasIdle = this.#isIdle
    if (this.#queue.length === 0) this.#waitingSince = this.#deps.clock.monotonic()
    this.#queue.push(entry)
    if (wasIdle) this.#deps.onBusy(true)
    this.#wake()
    // Report the dropped messages only when the new message is in the queue. Otherwise, a listener
    // that queues messages could take the room of the new message.
    const detail = 'The queue was full, so the client dropped the oldest message.'
    for (const oldest of dropped) this.#report('queue_full', { code: 'queue_full', detail }, [oldest])
    return this.#hasRoom ? resolved : this.#awaited.room()
  }

  /** Sends all queued messages, as `Analytics.flush` describes. */
  flush(): Promise<void> {
    if (this.#isIdle) return resolved
    this.#flushTo = this.#queue.lastSequenceNumber
    this.#wake()
    return this.#awaited.flush(this.#flushTo)
  }

  /** Refuses new messages from now on, and sends the queued messages as `drain` does. */
  close(timeoutMs?: number): Promise<void> {
    this.#closed = true
    return this.drain(timeoutMs)
  }

  /**
   * Sends all queued messages. After `leftMs`, messages without a result fail with `out_of_time`;
   * the failure names the whole time limit `timeoutMs`. Without `timeoutMs`, the time is unlimited.
   */
  async drain(timeoutMs: number | undefined, leftMs = timeoutMs ?? 0): Promise<void> {
    const { clock } = this.#deps
    const cancel = timeoutMs === undefined ? undefined : clock.after(leftMs, () => this.abandon(timeoutMs))
    await this.flush()
    cancel?.()
  }

  get #isIdle(): boolean {
    return this.#queue.length === 0 && this.#unfinishedBatches.length === 0
  }

  get #hasRoom(): boolean {
    const { maxQueueMessages, maxQueueBytes } = this.#deps.settings
    return this.#queue.length <= maxQueueMessages && this.#queue.bytes <= maxQueueBytes
  }

  /**
   * Makes room for a message of `bytes` bytes, and returns the messages that were dropped for this.
   * @throws QueueFull
   */
  #makeRoom(bytes: number): readonly Queued[] {
    const { maxQueueMessages, maxQueueBytes, onFull } = this.#deps.settings
    if (this.#queue.fits(bytes, maxQueueMessages, maxQueueBytes)) return []
    // Send a full queue immediately, without waiting for the timer.
    this.#flushTo = this.#queue.lastSequenceNumber
    this.#wake()
    // With `onFull: 'wait'`, the queue may grow to twice the limits, but not further, even if the
    // program does not await the promise.
    const factor = onFull === 'wait' ? 2 : 1
    // While `onFailure` gets a dropped message, `add` drops no further message. Otherwise, a
    // listener that queues each dropped message again would never end.
    const mayDrop = onFull === 'drop-oldest' && this.#reportedReason !== 'queue_full'
    const dropped: Queued[] = []
    while (!this.#queue.fits(bytes, maxQueueMessages * factor, maxQueueBytes * factor)) {
      const oldest = mayDrop ? this.#queue.shift() : undefined
      if (oldest === undefined) throw new QueueFull(this.#queue.length, this.#queue.bytes)
      dropped.push(oldest)
    }
    this.#dropped += dropped.length
    return dropped
  }

  get #isDue(): boolean {
    const { firstSequenceNumber, length, joinedBytes } = this.#queue
    if (firstSequenceNumber === undefined) return false
    if (firstSequenceNumber <= this.#flushTo || length >= this.#deps.settings.size) return true
    return joinedBytes + this.#deps.transport.envelopeBytes >= maxBatchBytes
  }

  #wake(): void {
    if (this.#running) return
    if (this.#isDue) void this.#run()
    else if (this.#queue.length > 0) this.#armTimer()
  }

  /**
   * Sets the timer of the next flush, which is due `flushAfter` milliseconds after the previous
   * flush. If that time was already over when the first message was queued, the flush is due
   * `flushAfter` milliseconds after this message.
   */
  #armTimer(): void {
    if (this.#cancelTimer !== undefined) return
    const { clock, settings } = this.#deps
    const next = this.#lastFlushAt + settings.flushAfter
    const due = next > this.#waitingSince ? next : this.#waitingSince + settings.flushAfter
    this.#cancelTimer = clock.after(Math.max(0, due - clock.monotonic()), () => {
      this.#cancelTimer = undefined
      this.#flushTo = this.#queue.lastSequenceNumber
      this.#wake()
    })
  }

  async #run(): Promise<void> {
    this.#running = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    // Wait one microtask, so that messages that the caller queues synchronously join one batch.
    await resolved
    while (this.#isDue) {
      this.#lastFlushAt = this.#deps.clock.monotonic()
      this.#unfinishedBatches = [this.#queue.take(this.#batchLimits)]
      this.#progress()
      for (let batch = this.#unfinishedBatches[0]; batch !== undefined; batch = this.#unfinishedBatches[0])
        await this.#send(batch)
    }
    this.#running = false
    this.#wake()
  }

  get #batchLimits(): BatchLimits {
    const { size } = this.#deps.settings
    const isBehind = this.#queue.length > catchUpBatches * size
    const bytes = maxBatchBytes - this.#deps.transport.envelopeBytes
    return { messages: isBehind ? maxBatchMessages : size, bytes }
  }

  async #send(messages: readonly Queued[]): Promise<void> {
    const { settings, ...deps } = this.#deps
    const abort = new AbortController()
    this.#abort = abort
    const batch = { id: deps.clock.id(), messages }
    const result = await attempt(batch, { ...deps, maxRetries: settings.maxRetries }, abort.signal)
    // After an abort, the messages were already reported as failed, and must not be reported twice.
    if (!abort.signal.aborted) this.#conclude(messages, result)
  }

  #conclude(messages: readonly Queued[], result: SendResult): void {
    const rest = this.#unfinishedBatches.slice(1)
    if (result.kind === 'too_large' && messages.length > 1) {
      const half = Math.ceil(messages.length / 2)
      this.#unfinishedBatches = [messages.slice(0, half), messages.slice(half), ...rest]
      return
    }
    this.#unfinishedBatches = rest
    switch (result.kind) {
      case 'taken':
        this.#settleTaken(messages, result.rejected)
        break
      case 'retry':
        this.#fail('retries_exhausted', result.trouble, messages)
        break
      default:
        this.#fail(result.kind, result.trouble, messages)
    }
    this.#progress()
  }

  #settleTaken(messages: readonly Queued[], rejected: readonly RejectedMessage[]): void {
    const left = new Set(rejected.map(({ index }) => index))
    const sent = left.size === 0 ? messages : messages.filter((_, index) => !left.has(index))
    // The listeners read `counts`, so all messages of the batch are counted before the first call.
    this.#sent += sent.length
    this.#failed += rejected.length
    if (sent.length > 0) this.#deps.onSent(sent)
    for (const { index, reason = 'rejected', ...trouble } of rejected)
      this.#report(reason, trouble, [messages[index] as Queued])
  }

  #fail(reason: FailureReason, trouble: FailureCause, messages: readonly Queued[]): void {
    this.#failed += messages.length
    this.#report(reason, trouble, messages)
  }

  #report(reason: FailureReason, trouble: FailureCause, messages: readonly Queued[]): void {
    const outer = this.#reportedReason
    this.#reportedReason = reason
    try {
      this.#deps.onFailure(failureOf(reason, trouble, messages))
    } finally {
      this.#reportedReason = outer
    }
  }

  /** Reports all messages without a result as failed with `out_of_time`. */
  abandon(timeoutMs: number): void {
    const everything = { messages: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }
    const all = [...this.#unfinishedBatches.flat(), ...this.#queue.take(everything)]
    this.#unfinishedBatches = []
    this.#abort?.abort()
    const detail = `The messages were not acknowledged within ${timeoutMs} ms. This is the time limit of close() or of the process exit.`
    if (all.length > 0) this.#fail('out_of_time', { code: 'out_of_time', detail }, all)
    this.#progress()
  }

  #progress(): void {
    const oldest =
      this.#unfinishedBatches[0]?.[0]?.sequenceNumber ?? this.#queue.firstSequenceNumber ?? Number.POSITIVE_INFINITY
    const upTo = this.#awaited.progress(oldest, this.#queue.lastSequenceNumber, this.#hasRoom)
    this.#flushTo = Math.max(this.#flushTo, upTo)
    if (this.#isIdle) this.#deps.onBusy(false)
  }
}
