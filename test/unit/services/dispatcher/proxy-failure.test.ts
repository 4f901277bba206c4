import { expect, it } from '@jest/globals'
import type { CallResult } from '../../../../src/core/webhook-ports.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, ok } from '../../../support/dispatcher/harness.ts'

const refused: CallResult = { kind: 'failed', phase: 'proxy', code: 'ERR_PROXY_RESPONSE', detail: 'responded with 407' }

it('retries after a failure of the proxy, and opens no circuit breaker', async () => {
  let isDown = true
  const harness = await DispatcherHarness.started({ answer: () => (isDown ? refused : ok) })
  for (let user = 0; user < 50; user++) harness.write({ message: trackMessage(`m${user}`, { userId: `u${user}` }) })
  await harness.advance(1)
  expect(harness.calls).toHaveLength(50)
  expect(harness.count('webhookCalls{crm,0,proxy}')).toBe(50)
  expect(harness.count('deliveries{crm,retried}')).toBe(50)
  expect(harness.gauge('breakersOpen{crm}')).toBeUndefined()
  const [retry] = harness.log.records(harness.topics.retry(10_000 as never))
  expect(retry?.headers).toMatchObject({ attempt: '1', reason: 'proxy', outcomes: 'proxy' })
  expect(harness.lines.filter(({ fields }) => fields['outcome'] === 'proxy')).toHaveLength(1)
  isDown = false
  await harness.advance(11_000)
  expect(harness.count('deliveries{crm,delivered}')).toBe(50)
})
