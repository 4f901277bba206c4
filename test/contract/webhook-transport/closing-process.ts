/** A process of its own: makes calls that end in every way, closes the transport, and has to end by itself. */
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { systemClock } from '../../../src/adapters/clock.ts'
import { createGotTransport } from '../../../src/adapters/webhook/got.ts'
import type { CallResult } from '../../../src/core/ports.ts'
import { durationMs, type JsonText } from '../../../src/core/units.ts'

const create = { got: createGotTransport }[process.argv[2] as 'got']
const server = net.createServer(socket => {
  socket.on('error', () => {})
  socket.on('data', bytes => {
    if (bytes.includes('/answer')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
// A connection that the transport leaves open keeps its other end, and so this process, alive.
server.unref()
const { port } = server.address() as AddressInfo

const network = { allow: ['127.0.0.0/8'], ports: undefined, ca: undefined }
const createWith = (timeoutMs: number) =>
  create({ network: () => network, timeout: durationMs(timeoutMs), clock: systemClock })
const patient = createWith(10_000)
const hasty = createWith(200)
const post = (url: string, transport = patient): Promise<CallResult> =>
  new Promise(resolve => transport.post({ url, headers: {}, body: '{}' as JsonText }, resolve))

const results = await Promise.all([
  post(`http://127.0.0.1:${port}/answer`),
  post(`http://127.0.0.1:${port}/answer`),
  post(`http://127.0.0.1:${port}/hang`, hasty),
  post('http://gone.invalid/'),
  post('http://10.0.0.1/'),
  post('http://127.0.0.1:1024/'),
])
await Promise.all([patient.close(), hasty.close()])
process.stdout.write(JSON.stringify(results))
