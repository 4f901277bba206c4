import process from 'node:process'
import type { ClientClock } from './clock.ts'
import type { Sender } from './sender.ts'

/** Callbacks of a client with unsent messages, for the end of the process. */
export interface UnsentClient {
  /** Called when the event loop is empty, to send the messages within `exitTimeoutMs`. */
  finish(): unknown
  /** Called when the process exits and unsent messages are lost. */
  lost(): void
}

const sending = new Set<UnsentClient>()
let isListening = false

/**
 * Registers a client while it has unsent messages. The first call installs the process listeners.
 */
export function guardExit(client: UnsentClient, isBusy: boolean): void {
  if (!isBusy) {
    sending.delete(client)
    return
  }
  sending.add(client)
  // A listener of the program for `beforeExit` may have queued the message. The immediate keeps the
  // process running, so that Node emits `beforeExit` again, with the listener below.
  setImmediate(() => {})
  if (isListening) return
  isListening = true
  // Node emits `beforeExit` again after I/O of a listener, so `finish` may be called several times.
  process.on('beforeExit', () => {
    for (const client of sending) client.finish()
  })
  process.on('exit', () => {
    for (const client of sending) client.lost()
  })
}

/** After this time without a drain, the program itself has kept the process running. */
const continuedMs = 60_000

/**
 * Returns the `finish` of a client. All calls together drain the queue for at most `limitMs`,
 * because `onFailure` may queue failed messages again, and Node then emits `beforeExit` again. The
 * limit starts again only if the program has continued for other reasons.
 */
export function finishWithin(
  limitMs: number,
  sender: Pick<Sender, 'drain' | 'abandon'>,
  clock: Pick<ClientClock, 'monotonic'>,
): () => Promise<void> {
  let leftMs = limitMs
  let isOver = false
  let endedAt = Number.NEGATIVE_INFINITY
  return async () => {
    const startedAt = clock.monotonic()
    if (startedAt - endedAt >= continuedMs) {
      leftMs = limitMs
      isOver = false
    }
    // An async listener can queue even the abandoned messages again.
    if (isOver) return
    isOver = leftMs === 0
    if (isOver) sender.abandon(limitMs)
    else await sender.drain(limitMs, leftMs)
    endedAt = clock.monotonic()
    leftMs = Math.max(0, leftMs - (endedAt - startedAt))
  }
}
