import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { Ledger } from '../../chaos/message-ledger.ts'
import { reached } from '../../chaos/poll-until-reached.ts'
import { startMessageLoad } from '../message-load.ts'

/** Returns the different responses, and the ids of the messages that were sent again. */
async function postTo(onRequest: (socket: Socket, number: number) => void, posts: number) {
  const server = createServer(socket => {
    let number = 0
    socket.on('error', () => undefined).on('data', () => onRequest(socket, ++number))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ledger = new Ledger()
  const { port } = server.address() as AddressInfo
  const load = await startMessageLoad(
    { ledger, partitions: 1, collectorUrl: async () => `http://127.0.0.1:${port}`, writeKey: async () => 'key' },
    200,
  )
  await reached(() => ledger.posted.length >= posts, { everyMs: 5, patienceMs: 30_000 })
  await load.stop()
  server.close()
  return {
    answers: new Set(ledger.posted.map(({ answer }) => answer)),
    sentAgain: ledger.posted.flatMap(posted => posted.sentAgain ?? []),
  }
}

const respond = (socket: Socket): unknown => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')

describe('the messages for the cluster', () => {
  it('are sent again when the server closed the idle connection at the same time', async () => {
    const { answers, sentAgain } = await postTo(
      (socket, number) => (number === 1 ? respond(socket) : socket.resetAndDestroy()),
      10,
    )
    expect(answers).toEqual(new Set([200]))
    expect(sentAgain).not.toEqual([])
  })

  it('are not sent again when a response has begun', async () => {
    const { answers } = await postTo((socket, number) => {
      if (number === 1) return respond(socket)
      return socket.write('HTTP/1.1 500 X\r\ncontent-length: 10\r\n\r\nabc', () => socket.resetAndDestroy())
    }, 10)
    expect(answers).toContain('broken')
  })

  it('have no response when the server resets a new connection', async () => {
    const { answers, sentAgain } = await postTo(socket => socket.resetAndDestroy(), 3)
    expect({ answers, sentAgain }).toEqual({ answers: new Set(['broken']), sentAgain: [] })
  })
})
