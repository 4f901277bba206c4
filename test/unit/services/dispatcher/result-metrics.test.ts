import { expect, it } from '@jest/globals'
import type { JsonText } from '../../../../src/core/message/json-text.ts'
import { canarySource } from '../../../../src/core/message/own-event.ts'
import { trackMessage } from '../../../support/collector/track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

it('the times until a delivery do not include replays, which wait for an operator', async () => {
  const answers = [answered(503), answered(503)]
  const harness = await DispatcherHarness.started({ answer: () => answers.shift() ?? ok })
  const canary = { sourceId: canarySource, destinationId: 'crm', message: trackMessage('m') }
  harness.write(canary)
  harness.write(canary, { 'replay-of': 'hookline.events/0/41/1795248000000' })
  await harness.advance(11_000)
  expect(harness.count('canaryReceived{}')).toBe(2)
  expect(harness.count('canarySeconds{}')).toBe(1)
  expect(harness.count('retriedDelivery{}')).toBe(1)
})

it('each dropped delivery has a line at level debug', async () => {
  const harness = await DispatcherHarness.started({ answer: () => answered(503) })
  harness.write({ message: trackMessage('retried') })
  harness.write({ message: { ...trackMessage('excluded'), integrations: '{"All":false}' as JsonText } })
  await harness.advance(1)
  harness.destinations = [destination('crm', { enabled: false })]
  await harness.advance(10_000)
  harness.destinations = []
  harness.write({ message: trackMessage('unconnected') })
  await harness.advance(1)

  const lines = harness.lines.filter(({ line }) => line === 'delivery dropped')
  expect(lines.map(({ level, fields }) => ({ level, ...fields }))).toEqual([
    { level: 'debug', reason: 'not_selected', source: 'web', destination: 'crm', messageId: 'excluded' },
    { level: 'debug', reason: 'disabled', source: 'web', destination: 'crm', messageId: 'retried' },
    { level: 'debug', reason: 'no_destination', source: 'web', destination: undefined, messageId: 'unconnected' },
  ])
})
