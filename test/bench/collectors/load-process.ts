import { Agent, request } from 'node:http'
import { call } from '../clients/call.ts'
import type { LoadOrder, LoadTally } from './load.ts'

/* Sends batches over so many connections, the next one of each when the last is answered, until its parent has had enough. */

const bodies = 64

function bodyOf(batchSize: number, number: number): Buffer {
  const sentAt = new Date().toISOString()
  const batch = Array.from({ length: batchSize }, (_, index) => {
    const id = number * batchSize + index
    return { ...call(id), type: 'track', messageId: `load-${id}`, timestamp: sentAt }
  })
  return Buffer.from(JSON.stringify({ batch, sentAt }))
}

function start({ url, writeKey, batchSize, connections }: LoadOrder): void {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const prepared = Array.from({ length: bodies }, (_, number) => bodyOf(batchSize, number))
  const headers = {
    'content-type': 'application/json',
    authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
  }
  let sent = 0
  const next = (): void => {
    const body = prepared[sent++ % bodies] as Buffer
    const outgoing = request(url, { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } })
    outgoing.on('response', response => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) tally.messages += batchSize
        else tally.refused += 1
        next()
      })
    })
    // The server is stopped under load.
    outgoing.on('error', () => {
      tally.broken += 1
    })
    outgoing.end(body)
  }
  for (let connection = 0; connection < connections; connection += 1) next()
}

const tally: { -readonly [Key in keyof LoadTally]: LoadTally[Key] } = { messages: 0, refused: 0, broken: 0 }
process.on('message', (order: LoadOrder | 'tell') => {
  if (order === 'tell') process.send?.(tally)
  else start(order)
})
process.on('disconnect', () => process.exit())
