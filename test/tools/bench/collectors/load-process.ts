import { Agent, request } from 'node:http'
import { call } from '../clients/sample-message.ts'
import { idPrefix, type LoadOrder, type LoadTally, messageIdOf } from './load.ts'

/*
 * Sends batches over several connections until the parent disconnects. Each connection waits for
 * the response before the next batch.
 */

const bodies = 64

/** A prepared body. Each request sends a copy with new message ids at the same positions. */
interface Template {
  readonly body: Buffer
  /** Byte positions of the digits of each message id. */
  readonly digitsAt: readonly number[]
}

function templateOf(batchSize: number, number: number): Template {
  const sentAt = new Date().toISOString()
  const batch = Array.from({ length: batchSize }, (_, index) => {
    const id = number * batchSize + index
    return { ...call(id), type: 'track', messageId: messageIdOf(0), timestamp: sentAt }
  })
  const body = Buffer.from(JSON.stringify({ batch, sentAt }))
  const digitsAt: number[] = []
  for (let at = body.indexOf(idPrefix); at >= 0; at = body.indexOf(idPrefix, at + 1))
    digitsAt.push(at + idPrefix.length)
  return { body, digitsAt }
}

/**
 * Copies the body, and writes new ids into the copy. Each request needs its own copy, because
 * several requests with the same template can be in progress.
 */
function bodyOf({ body, digitsAt }: Template, firstId: number): Buffer {
  const copy = Buffer.from(body)
  for (const [index, at] of digitsAt.entries())
    copy.write(messageIdOf(firstId + index).slice(idPrefix.length), at, 'latin1')
  return copy
}

function start({ url, writeKey, batchSize, connections }: LoadOrder): void {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const templates = Array.from({ length: bodies }, (_, number) => templateOf(batchSize, number))
  const headers = {
    'content-type': 'application/json',
    authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
  }
  let sent = 0
  const next = (): void => {
    const number = sent++
    const body = bodyOf(templates[number % bodies] as Template, number * batchSize)
    const outgoing = request(url, { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } })
    outgoing.on('response', response => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) {
          tally.messages += batchSize
          accepted.push(number)
        } else tally.refused += 1
        next()
      })
    })
    // Requests in progress fail when the bench stops the server.
    outgoing.on('error', () => {
      tally.broken += 1
    })
    outgoing.end(body)
  }
  for (let connection = 0; connection < connections; connection += 1) next()
}

const tally: { -readonly [Key in keyof LoadTally]: LoadTally[Key] } = { messages: 0, refused: 0, broken: 0 }
const accepted: number[] = []
process.on('message', (order: LoadOrder | 'tally' | 'accepted') => {
  if (order === 'tally') process.send?.(tally)
  else if (order === 'accepted') process.send?.(accepted)
  else start(order)
})
process.on('disconnect', () => process.exit())
