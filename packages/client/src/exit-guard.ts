import process from 'node:process'

/** The callbacks of a client with unsent messages. They are called when the process ends. */
export interface UnsentClient {
  /**
   * Called when the event loop is empty. The client then sends its messages, for at most
   * `exitTimeoutMs`.
   */
  finish(): void
  /** Called when the process exits and unsent messages are lost. */
  lost(): void
}

const sending = new Set<UnsentClient>()
let isListening = false

/**
 * Registers a client while it has unsent messages (`isBusy` is true), and removes it when it has
 * none. The first call installs the process listeners.
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
  // pending. If a listener starts I/O, Node emits `beforeExit` again after that I/O. So `finish`
  // may be called several times.
  process.on('beforeExit', () => {
    for (const client of sending) client.finish()
  })
  process.on('exit', () => {
    for (const client of sending) client.lost()
  })
}
