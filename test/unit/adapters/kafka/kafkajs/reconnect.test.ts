import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

interface Fulfilled {
  readonly correlationId: number
  readonly payload: Buffer
}

interface Connection {
  socket: Socket
  requestQueue: { fulfillRequest(answer: Fulfilled): void }
  connect(): Promise<boolean>
  disconnect(): Promise<boolean>
  isConnected(): boolean
}

const answer = (correlationId: number, payload: string): Buffer => {
  const head = Buffer.alloc(8)
  head.writeInt32BE(4 + payload.length)
  head.writeInt32BE(correlationId, 4)
  return Buffer.concat([head, Buffer.from(payload)])
}
const logger = { debug: () => undefined, error: () => undefined, namespace: () => logger }

describe('a connection after a broken one', () => {
  let server: Server
  let connection: Connection
  const sockets: Socket[] = []
  const accepted = async (): Promise<Socket> => {
    const [[socket]] = (await Promise.all([once(server, 'connection'), connection.connect()])) as [[Socket], boolean]
    sockets.push(socket)
    return socket
  }
  /** Resolves with the next response that the connection parses. */
  const nextAnswer = (): Promise<string> =>
    new Promise(resolve => {
      connection.requestQueue.fulfillRequest = ({ correlationId, payload }) => resolve(`${correlationId} ${payload}`)
    })

  beforeAll(() => {
    loadKafkajs()
  })
  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true }, socket => socket.on('error', () => {}))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const Connection = internal<new (options: object) => Connection>('network/connection')
    const socketFactory = internal<() => unknown>('network/socketFactory')()
    const timeouts = { connectionTimeout: 5_000, requestTimeout: 5_000, enforceRequestTimeout: true }
    connection = new Connection({ host: '127.0.0.1', port, logger, socketFactory, clientId: 'x', ...timeouts })
  })
  afterEach(async () => {
    await connection.disconnect()
    for (const socket of sockets.splice(0)) socket.destroy()
    server.close()
  })

  it.each([
    ['within a length field', 2],
    ['within a response', 9],
    ['between two responses', 0],
  ])('parses its responses when the broken one ended %s', async (_, bytes) => {
    const first = await accepted()
    const before = nextAnswer()
    first.write(Buffer.concat([answer(1, 'whole'), answer(2, 'torn answer').subarray(0, bytes)]))
    expect(await before).toBe('1 whole')
    first.resetAndDestroy()
    while (connection.isConnected()) await new Promise(setImmediate)
    const second = await accepted()
    const after = nextAnswer()
    second.write(answer(3, 'again'))
    expect(await after).toBe('3 again')
  })

  it('ignores data and end of the old socket', async () => {
    const first = await accepted()
    const old = connection.socket
    await connection.disconnect()
    const second = await accepted()
    first.end(answer(1, 'late').subarray(0, 9))
    await once(old, 'close')
    const after = nextAnswer()
    second.write(answer(2, 'in time'))
    expect(await after).toBe('2 in time')
    expect(connection.isConnected()).toBe(true)
  })

  it('ignores errors of the old socket', async () => {
    const first = await accepted()
    const old = connection.socket
    await connection.disconnect()
    const second = await accepted()
    const closed = new Promise(resolve => old.once('close', resolve))
    first.resetAndDestroy()
    await closed
    expect(connection.isConnected()).toBe(true)
    const after = nextAnswer()
    second.write(answer(1, 'in time'))
    expect(await after).toBe('1 in time')
  })

  it('rejects when the connection attempt fails', async () => {
    const first = await accepted()
    server.close()
    first.resetAndDestroy()
    while (connection.isConnected()) await new Promise(setImmediate)
    await expect(connection.connect()).rejects.toThrow('ECONNREFUSED')
    await expect(connection.connect()).rejects.toThrow('ECONNREFUSED')
  })
})
