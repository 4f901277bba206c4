import type { Cancel, ClientClock } from '../../../packages/client/src/clock.ts'
import type { Failure } from '../../../packages/client/src/failure.ts'
import type { Entry } from '../../../packages/client/src/message-queue.ts'
import { Sender, type SenderDeps } from '../../../packages/client/src/sender.ts'
import type { Batch, SendResult, StopSignal, Transport } from '../../../packages/client/src/transport.ts'
import { ManualClock } from '../manual-clock.ts'

/** The clock and the random numbers of a client, controlled by the test. */
export class ManualClientClock extends ManualClock implements ClientClock {
  /** Number of unfinished `keepAlive` calls. Each one prevents the process from exiting. */
  holds = 0

  keepAlive(): Cancel {
    this.holds += 1
    return () => {
      this.holds -= 1
    }
  }

  random(): number {
    return 0.5
  }
}

/** Resolves after all pending work that does not wait for a timer. */
export const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

export const entry = (messageId: string, bytes = 100): Entry => ({
  messageId,
  text: JSON.stringify({ messageId, text: 'x'.repeat(Math.max(0, bytes - messageId.length - 27)) }),
  bytes,
})

export type Respond = (batch: Batch, retry: number, signal: StopSignal) => SendResult | Promise<SendResult>

export const taken: SendResult = { kind: 'taken', rejected: [] }
export const trouble = { code: 'http_503', detail: 'The collector responded with status 503.' }
export const retry = (retryAfterMs?: number): SendResult => ({ kind: 'retry', trouble, retryAfterMs })

export const always =
  (result: SendResult): Respond =>
  () =>
    result
/** The n-th attempt gets the n-th result. All further attempts get the last result. */
export const inTurn = (...results: readonly SendResult[]): Respond => {
  let turn = 0
  return () => results[Math.min(turn++, results.length - 1)] as SendResult
}

export interface Try {
  readonly atMs: number
  readonly id: string
  readonly messageIds: readonly string[]
  readonly retry: number
}

/** A sender with a manual clock. The harness records its attempts and callbacks. */
export function senderHarness(
  respond: Respond,
  settings: Partial<SenderDeps['settings']> = {},
  onFailure: SenderDeps['onFailure'] = () => {},
  onSent: SenderDeps['onSent'] = () => {},
) {
  const clock = new ManualClientClock()
  const tries: Try[] = []
  const sent: string[] = []
  const failures: Failure[] = []
  const busy: boolean[] = []
  const transport: Transport = {
    envelopeBytes: 200,
    async send(batch, retryCount, signal) {
      const messageIds = batch.messages.map(message => message.messageId)
      tries.push({ atMs: clock.monotonic(), id: batch.id, messageIds, retry: retryCount })
      return respond(batch, retryCount, signal)
    },
  }
  const sender = new Sender({
    settings: {
      size: 20,
      flushAfter: 5_000,
      maxRetries: 10,
      maxQueueMessages: 1_000,
      maxQueueBytes: 10_000_000,
      onFull: 'error',
      ...settings,
    },
    transport,
    clock,
    onSent(messages) {
      sent.push(...messages.map(message => message.messageId))
      onSent(messages)
    },
    onFailure(failure) {
      failures.push(failure)
      onFailure(failure)
    },
    onRetry: () => {},
    onBusy: isBusy => busy.push(isBusy),
  })
  return {
    sender,
    clock,
    tries,
    sent,
    failures,
    busy,
    /** Queues `count` messages with the ids `m1`, `m2`, … */
    add(count: number, bytes?: number): void {
      for (let left = count; left > 0; left -= 1) void sender.add(entry(`m${sender.counts.queued + 1}`, bytes))
    },
    advance: (ms: number) => clock.advance(ms, settled),
    /** Number of messages in each attempted batch. */
    sizes: () => tries.map(({ messageIds }) => messageIds.length),
  }
}
