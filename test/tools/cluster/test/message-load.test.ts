import { once } from 'node:events'
import { Agent } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { post } from '../message-load.ts'

/**
 * Posts two messages, the second on the idle connection of the first, if it is still open. Returns
 * the results.
 */
async function postTwo(onRequest: (socket: Socket, number: number) => void) {
  const server = createServer(socket => {
    let number = 0
    socket.on('error', () => undefined).on('data', () => onRequest(socket, ++number))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const isIdle = once(agent, 'free')
  const first = await post(url, { agent, headers: {}, body: '{}', ids: ['1'] })
  if (first.answer === 200) await isIdle
  const second = await post(url, { agent, headers: {}, body: '{}', ids: ['2'] })
  agent.destroy()
  server.close()
  return [first, second]
}

const respond = (socket: Socket): unknown => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')

describe('the messages for the cluster', () => {
  it('are sent again when the server closed the idle connection at the same time', async () => {
    const results = await postTwo((socket, number) => (number === 1 ? respond(socket) : socket.resetAndDestroy()))
    expect(results).toEqual([{ answer: 200 }, { answer: 200, sentAgain: ['2'] }])
  })

  it('are not sent again when a response has begun', async () => {
    const results = await postTwo((socket, number) => {
      if (number === 1) return respond(socket)
      return socket.write('HTTP/1.1 500 X\r\ncontent-length: 10\r\n\r\nabc', () => socket.resetAndDestroy())
    })
    expect(results).toEqual([{ answer: 200 }, { answer: 'broken' }])
  })

  it('have no response when the server resets a new connection', async () => {
    const results = await postTwo(socket => socket.resetAndDestroy())
    expect(results).toEqual([{ answer: 'broken' }, { answer: 'broken' }])
  })
})
