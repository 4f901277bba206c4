import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../../support/cleanup.ts'
import { assembleCrowd } from '../../support/collector/hostile-crowds.ts'

const closing = closingAfterEach()

it('reports 0 for connections that the server has reset before the last byte is sent', async () => {
  const server = net.createServer({ pauseOnConnect: true })
  closing({ close: async () => void server.close() })
  const accepted: net.Socket[] = []
  server.on('connection', socket => accepted.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const crowd = {
    name: 'reset',
    connections: 2,
    pipelined: 1,
    bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    areRead: true,
  }
  const assembled = await assembleCrowd(`http://127.0.0.1:${port}`, crowd)

  const handles = () => process.getActiveResourcesInfo().filter(each => each === 'TCPSocketWrap').length
  while (accepted.length < 2) await nextTurn()
  const before = handles()
  for (const socket of accepted) socket.resetAndDestroy()
  // Both ends of both connections are closed.
  while (handles() > before - 4) await nextTurn()

  expect(await assembled.finish()).toEqual([0, 0])
}, 10_000)
