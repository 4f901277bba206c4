import { expect, it } from '@jest/globals'
import { testMessageOf } from '../../../../src/core/operator/test-message.ts'
import { defaultDelivery, defaultPayload, destinationOf, duration, start } from '../../../support/builders.ts'

it.each([
  ['of the policy', '3s', duration('3s')],
  ['of delivery, if that of the policy is longer', '6s', defaultDelivery.timeout],
])('the requests of a test message have the time limit %s', (_, timeout, timeoutMs) => {
  const destination = destinationOf({ policy: { timeout: duration(timeout) } })
  const context = { id: '1', at: start, payload: defaultPayload, delivery: defaultDelivery }
  const { requests } = testMessageOf(destination, context)
  expect(requests).toMatchObject([{ call: { timeoutMs } }])
})
