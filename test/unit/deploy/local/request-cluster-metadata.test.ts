import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { clusterMetadata } from '../../../../deploy/tools/local/request-cluster-metadata.ts'

let server: Server
afterEach(() => {
  server.close()
})

async function listen(onRequest: (socket: Socket, request: Buffer) => void): Promise<number> {
  server = createServer(socket => socket.on('data', request => onRequest(socket, request))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const int32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}
const text = (value: string): Buffer => Buffer.concat([int32(value.length).subarray(2), Buffer.from(value)])

/** A Metadata v4 response of a broker, with the correlation id of the request. */
function answer(correlation: Buffer): Buffer {
  const nullText = Buffer.from([0xff, 0xff])
  const first = [int32(1), text('a.example.com'), int32(9092), nullText]
  const second = [int32(2), text('b'), int32(19092), text('rack')]
  const body = Buffer.concat([
    correlation,
    int32(0),
    int32(2),
    ...first,
    ...second,
    text('cluster-id'),
    int32(1),
    int32(0),
  ])
  return Buffer.concat([int32(body.length), body])
}
const correlationOf = (request: Buffer): Buffer => request.subarray(8, 12)

/** A timeout in ms that no test reaches. */
const plenty = 60_000

describe('clusterMetadata', () => {
  it('requests Metadata version 4 and parses cluster and brokers, for any chunks of the response', async () => {
    const requests: Buffer[] = []
    const port = await listen((socket, request) => {
      requests.push(request)
      const whole = answer(correlationOf(request))
      socket.setNoDelay(true)
      socket.write(whole.subarray(0, 3), () => setImmediate(() => socket.write(whole.subarray(3))))
    })
    expect(await clusterMetadata('127.0.0.1', port, plenty)).toEqual({
      clusterId: 'cluster-id',
      brokers: ['a.example.com:9092', 'b:19092'],
    })
    const [request] = requests
    expect(request?.readInt32BE(0)).toBe(request!.length - 4)
    expect([request?.readInt16BE(4), request?.readInt16BE(6)]).toEqual([3, 4])
  })

  it.each<[string, (socket: Socket, request: Buffer) => void, RegExp, number]>([
    ['the response to another request', socket => socket.write(answer(int32(99))), /not from a Kafka broker/, plenty],
    [
      'an incomplete response',
      (socket, request) => socket.write(Buffer.concat([int32(8), correlationOf(request), int32(0)])),
      /range/,
      plenty,
    ],
    ['a closed connection', socket => socket.end(), /closed the connection/, plenty],
    ['silence', () => {}, /did not respond within 50 ms/, 50],
  ])('rejects %s', async (_, onRequest, message, timeoutMs) => {
    await expect(clusterMetadata('127.0.0.1', await listen(onRequest), timeoutMs)).rejects.toThrow(message)
  })
})
