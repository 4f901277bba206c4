import process from 'node:process'

/** Callbacks of a client with unsent messages, for the end of the process. */
export interface UnsentClient {
  /** Called when the event loop is empty, to send the messages within `exitTimeoutMs`. */
  finish(): void
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
