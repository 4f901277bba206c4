import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { Ledger } from '../message-ledger.ts'
import { type Receiver, startReceiver } from '../receiver.ts'

let ledger: Ledger
let receiver: Receiver
beforeEach(async () => {
  ledger = new Ledger()
  receiver = await startReceiver(ledger)
})
afterEach(() => receiver.close())

async function postTo(...webhooks: readonly number[]): Promise<void> {
  for (const webhook of webhooks)
    await fetch(`${receiver.url('shop')}/${webhook}`, { method: 'POST', headers: { 'x-message-id': 'm-1' } })
}

it('records a message to several merged webhooks once, and each repetition at one of them', async () => {
  receiver.merge('shop')
  await postTo(1, 2, 3)
  expect(ledger.calls.map(({ destination, id }) => `${destination} ${id}`)).toEqual(['shop m-1'])
  await postTo(2)
  expect(ledger.calls).toHaveLength(2)
})

it('records every request to webhooks that are not merged', async () => {
  await postTo(1, 2)
  expect(ledger.calls).toHaveLength(2)
})
