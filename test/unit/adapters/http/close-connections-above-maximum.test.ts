import { once } from 'node:events'
import type { Server } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, it } from '@jest/globals'
import { limitConnections, protectRequests } from '../../../../src/adapters/http/close-connections-above-maximum.ts'
import { createNodeServer } from '../../../../src/adapters/http/node-server-with-limits.ts'
import { defaultLimits } from '../../../../src/adapters/http/server-limits.ts'
import { ConnectionLimiter } from '../../../../src/core/network/server-connection-limiter.ts'
import { connect, type Wire } from '../../../support/network/raw-http-client.ts'

const wires: Wire[] = []
let server: Server | undefined
afterEach(async () => {
  for (const wire of wires.splice(0)) wire.reset()
  await once(server?.close() as Server, 'close')
})

it.each([
  ['without a body', 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'],
  ['with an empty body', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n'],
  ['with a body', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}'],
  ['with a chunked body', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'],
])('a request %s in progress is not aborted for new connections', async (_, request) => {
  const limiter = new ConnectionLimiter<Socket>(2, 2)
  const began = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  server = createNodeServer(async (incoming, response) => {
    incoming.resume().once('end', began.resolve)
    await go.promise
    response.end('done')
  }, defaultLimits)
  limitConnections(server, limiter)
  protectRequests(server, limiter)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const open = async (): Promise<Wire> => {
    const wire = await connect(url)
    wires.push(wire)
    return wire
  }

  const busy = await open()
  await busy.send(request)
  await began.promise
  const replaced = await open()
  await open()
  await replaced.closed
  go.resolve()
  expect(await busy.answer()).toMatchObject({ status: 200, body: 'done' })
})

it.each([1, 2])('%i requests protect no connection of a client that does not read the response', async requests => {
  const limiter = new ConnectionLimiter<Socket>(2, 2)
  let began = 0
  const all = Promise.withResolvers<void>()
  server = createNodeServer((_, response) => {
    response.end(Buffer.alloc(16 * 1_048_576))
    began += 1
    if (began === 2 * requests) all.resolve()
  }, defaultLimits)
  limitConnections(server, limiter)
  protectRequests(server, limiter)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const silent = [net.connect(port, '127.0.0.1'), net.connect(port, '127.0.0.1')]
  try {
    for (const socket of silent)
      socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(requests))
    await all.promise
    const wire = await connect(`http://127.0.0.1:${port}`)
    wires.push(wire)
    await wire.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    expect((await wire.answer('GET')).status).toBe(200)
  } finally {
    for (const socket of silent) socket.destroy()
  }
})
