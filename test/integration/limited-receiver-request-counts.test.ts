import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { LimitedReceiver } from '../support/webhook/limited-receiver.ts'

const closing = closingAfterEach()

it('counts requests by the second in which the sender began them, also if they arrive together', async () => {
  const receiver = closing(await LimitedReceiver.started())
  const from = performance.now()
  const sent = Array.from({ length: 100 }, (_, index) => 1_700_000_000 + Math.floor(index / 40))
  await Promise.all(
    sent.map(second =>
      fetch(receiver.url, { method: 'POST', body: '{}', headers: { 'webhook-timestamp': String(second) } }),
    ),
  )
  const { maxSentInOneSecond } = receiver.arrivals(from, performance.now())
  expect(maxSentInOneSecond).toBe(40)
})
