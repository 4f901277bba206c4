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

/**
 * If the last call of `finish` ended at least this long ago, in milliseconds, the program itself
 * has kept the process running. The time limit of `finish` then starts again.
 */
const limitResetAfterMs = 60_000

/**
 * Returns the callback `finish` of a client. `onFailure` may queue failed messages again, and Node
 * then emits `beforeExit` again. So all calls of `finish` together drain the queue for at most
 * `limitMs`. The limit starts again only if the program itself has kept the process running.
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
    if (startedAt - endedAt >= limitResetAfterMs) {
      leftMs = limitMs
      isOver = false
    }
    // The time limit is over, and all messages were reported as failed. An async listener may have
    // queued them again, but `finish` does not send them.
    if (isOver) return
    isOver = leftMs === 0
    if (isOver) sender.abandon(limitMs)
    else await sender.drain(limitMs, leftMs)
    endedAt = clock.monotonic()
    leftMs = Math.max(0, leftMs - (endedAt - startedAt))
  }
}
