import type { IncomingMessage, ServerResponse } from 'node:http'
import { UploadCutShort } from '../../core/operator/deletion-and-audience-api.ts'
import type { Clock } from '../../core/ports.ts'
import { type Connection, clearBodyAbortedCallback } from './open-connections.ts'
import { type HttpResponse, problem } from './response-codes-and-bodies.ts'
import type { HttpLimits } from './server-limits.ts'

interface Deps {
  readonly progress: HttpLimits['progress']
  readonly clock: Clock
  readonly connection: Connection
}

/** A request body of any length, read with backpressure. */
export interface StreamedBody {
  /**
   * Reads the body. Call it only once.
   * @throws UploadCutShort when the body is not complete
   */
  read(): AsyncIterable<Buffer>
  /**
   * The response to send after UploadCutShort; `undefined` when the client has closed the
   * connection.
   */
  answer(): HttpResponse | undefined
}

export function createStreamedBody(request: IncomingMessage, response: ServerResponse, deps: Deps): StreamedBody {
  const { progress, clock, connection } = deps
  const waiting: Buffer[] = []
  let state: 'open' | 'ended' | 'broken' = 'open'
  let answer: HttpResponse | undefined
  let wake = (): void => {}
  connection.isProgressChecked = true

  function setFinalState(next: 'ended' | 'broken', why?: HttpResponse): void {
    if (state !== 'open') return
    state = next
    answer = why
    wake()
  }
  function onData(piece: Buffer): void {
    waiting.push(piece)
    request.pause()
    wake()
  }
  const onEnd = (): void => setFinalState('ended')
  const onGone = (): void => setFinalState('broken')

  /**
   * Resolves when more data has arrived or the body has ended. The limit `progress.within` begins
   * with this call, so that the time for processing earlier data does not count.
   */
  async function waitForMore(): Promise<void> {
    const cancel = clock.after(progress.within, () => setFinalState('broken', tooSlow(progress.within)))
    const woken = new Promise<void>(resolve => (wake = resolve))
    request.resume()
    await woken
    cancel()
  }

  async function* read(): AsyncGenerator<Buffer> {
    // A client with the header Expect waits for `100 Continue`. HTTP/1.0 does not define Expect.
    if (request.headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue()
    const onBodyAborted = (why: HttpResponse): void => setFinalState('broken', why)
    connection.onBodyAborted = onBodyAborted
    // Without a listener of `error`, an error would end the process. The listener does nothing,
    // because `close` follows each error.
    request
      .on('data', onData)
      .on('end', onEnd)
      .on('close', onGone)
      .on('error', () => {})
    if (request.destroyed) onGone()
    try {
      for (;;) {
        for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) yield piece
        if (state === 'ended') return
        if (state === 'broken') throw new UploadCutShort(answer?.code ?? 'the client closed the connection')
        await waitForMore()
      }
    } finally {
      clearBodyAbortedCallback(connection, onBodyAborted)
      request.off('data', onData).off('end', onEnd).off('close', onGone)
      // Discards the unread part of the body, which would otherwise delay the response.
      request.resume()
    }
  }

  return { read, answer: () => answer }
}

const tooSlow = (limitMs: number): HttpResponse =>
  problem(
    'request_timeout',
    `Hookline received no data for ${limitMs / 1_000} s, so it ended the upload: send the whole list again, without long pauses.`,
  )
