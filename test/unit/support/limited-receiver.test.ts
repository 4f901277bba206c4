import { connect } from 'node:net'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../../support/cleanup.ts'
import { LimitedReceiver } from '../../support/webhook/limited-receiver.ts'

const closing = closingAfterEach()
const blockedMs = 200

it('counts requests that waited during a stall as part of the stall', async () => {
  const receiver = closing(await LimitedReceiver.started())
  const { hostname, port, pathname } = new URL(receiver.url)
  const socket = connect(Number(port), hostname)
  await new Promise(resolve => socket.once('connect', resolve))
  // After the first request, the server has accepted the connection, so the other requests wait in
  // its socket.
  const request = `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 0\r\n\r\n`
  const first = receiver.accepts(1)
  socket.write(request)
  await first
  const others = receiver.accepts(20)
  socket.write(request.repeat(20))
  const end = performance.now() + blockedMs
  while (performance.now() < end);
  await others
  await receiver.seesEndOfStalls()
  socket.destroy()

  const isInStall = (at: number): boolean => receiver.stalls.some(({ from, until }) => at > from && at <= until)
  expect(receiver.accepted.slice(1).filter(at => !isInStall(at))).toEqual([])
  expect(receiver.arrivals(0, performance.now() + 1_000).maxInOneSecond).toBeLessThanOrEqual(1)
})
