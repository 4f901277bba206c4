import type { IncomingMessage, ServerResponse } from 'node:http'
import { UploadCutShort } from '../../core/operator/operator-api.ts'
import type { Clock } from '../../core/ports.ts'
import { type Answer, problem } from './answers.ts'
import type { Connection } from './open-connections.ts'
import type { HttpLimits } from './server-limits.ts'

interface Deps {
  readonly progress: HttpLimits['progress']
  readonly clock: Clock
  readonly connection: Connection
}

/** A body of any length, handed on as it is asked for: its sender waits meanwhile. */
export interface BodyPieces {
  /** To be read once. Throws UploadCutShort when the body does not come to its end. */
  read(): AsyncIterable<Buffer>
  /** What to answer then; undefined: there is nobody to answer. */
  answer(): Answer | undefined
}

export function createBodyPieces(request: IncomingMessage, response: ServerResponse, deps: Deps): BodyPieces {
  const { progress, clock, connection } = deps
  const waiting: Buffer[] = []
  let state: 'open' | 'ended' | 'broken' = 'open'
  let answer: Answer | undefined
  let wake = (): void => {}
  connection.isLong = true

  function becomes(next: 'ended' | 'broken', why?: Answer): void {
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

  /** Resolves when there is more, or never will be. Only time spent here is the sender's. */
  async function more(): Promise<void> {
    const cancel = clock.after(progress.within, () => becomes('broken', tooSlow()))
    const woken = new Promise<void>(resolve => (wake = resolve))
    request.resume()
    await woken
    cancel()
  }

  async function* read(): AsyncGenerator<Buffer> {
    // Every other expectation has been refused; HTTP/1.0 knows none.
    if (request.headers.expect !== undefined && request.httpVersionMinor === 1) response.writeContinue()
    connection.onBroken = why => becomes('broken', why)
    // An error is followed by `close`; without a listener it would end the process.
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
        if (state === 'broken') throw new UploadCutShort(answer?.code ?? 'the sender has gone')
        await more()
      }
    } finally {
      connection.onBroken = undefined
      request.off('data', onData).off('end', onEnd).off('close', onGone)
      // What is not wanted any more is not to hold up the answer.
      request.resume()
    }
  }

  return { read, answer: () => answer }
}

const tooSlow = (): Answer => problem('request_timeout', 'The list came too slowly: send all of it again, faster.')
