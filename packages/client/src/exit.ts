import process from 'node:process'

/** A client with something to send, as the end of the process sees it. */
export interface Sending {
  /** The process has nothing else to do: send what is left, in limited time. */
  finish(): void
  /** The process ends here and now. */
  lost(): void
}

const sending = new Set<Sending>()
let isListening = false

/** Called when a client has something to send and when it has nothing left. Nothing happens before the first call. */
export function guardExit(client: Sending, isBusy: boolean): void {
  if (!isBusy) {
    sending.delete(client)
    return
  }
  sending.add(client)
  if (isListening) return
  isListening = true
  // Timers do not keep the process alive, so this comes as soon as only they are left; and again after what it started.
  process.on('beforeExit', () => {
    for (const client of sending) client.finish()
  })
  process.on('exit', () => {
    for (const client of sending) client.lost()
  })
}
