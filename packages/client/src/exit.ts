import process from 'node:process'

/** The callbacks of a client with unsent messages, for the end of the process. */
export interface UnsentClient {
  /** Called when the event loop is empty. The client sends its messages within its time limit. */
  finish(): void
  /** Called when the process exits and unsent messages are lost. */
  lost(): void
}

const sending = new Set<UnsentClient>()
let isListening = false

/**
 * Registers a client while it has unsent messages, and removes it afterwards. The first call
 * installs the process listeners.
 */
export function guardExit(client: UnsentClient, isBusy: boolean): void {
  if (!isBusy) {
    sending.delete(client)
    return
  }
  sending.add(client)
  if (isListening) return
  isListening = true
  // The client's timers do not keep the process alive, so Node emits `beforeExit` while they are
  // pending. Node emits it again when the work that a listener started has ended.
  process.on('beforeExit', () => {
    for (const client of sending) client.finish()
  })
  process.on('exit', () => {
    for (const client of sending) client.lost()
  })
}
