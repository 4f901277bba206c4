import type { IncomingMessage, ServerResponse } from 'node:http'
import { UploadCutShort } from '../../core/operator/deletion-and-audience-api.ts'
import type { Clock } from '../../core/ports.ts'
import { type Connection, endBody } from './open-connections.ts'
import { type HttpResponse, problem } from './response-codes-and-bodies.ts'
import type { HttpLimits } from './server-limits.ts'

interface Deps {
  readonly progress: HttpLimits['progress']
  readonly clock: Clock
  readonly connection: Connection
}

/** A request body of any length, read with backpressure: the client waits while nothing is read. */
export interface StreamedBody {
  /**
   * Reads the body. Call it only once.
   * @throws UploadCutShort when the body is not complete
   */
  read(): AsyncIterable<Buffer>
  /**
   * The response to send after UploadCutShort. `undefined` when the client has closed the
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
  connection.isLong = true

  function becomes(next: 'ended' | 'broken', why?: HttpResponse): void {
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
  const onEnd = (): void => becomes('ended')
  const onGone = (): void => becomes('broken')

  /**
   * Resolves when more data has arrived or the body has ended. The client must send data within
   * `progress.within` of this call. Time in which Hookline processes earlier data does not count.
   */
  async function more(): Promise<void> {
    const cancel = clock.after(progress.within, () => becomes('broken', tooSlow(progress.within)))
    const woken = new Promise<void>(resolve => (wake = resolve))
    request.resume()
    await woken
    cancel()
  }

  async function* read(): AsyncGenerator<Buffer> {
    // A client with the header Expect waits for `100 Continue` before it sends the body.
    // (json-api-server.ts has refused values other than `100-continue`.) HTTP/1.0 does not define
    // Expect, so the header is ignored there.
    if (request.headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue()
    const onBodyAborted = (why: HttpResponse): void => becomes('broken', why)
    connection.onBodyAborted = onBodyAborted
    // The listener of `error` does nothing, because `close` follows. Without a listener, an error
    // would end the process.
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
        await more()
      }
    } finally {
      endBody(connection, onBodyAborted)
      request.off('data', onData).off('end', onEnd).off('close', onGone)
      // Reads and discards the rest of the body, so that it does not delay the response.
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
