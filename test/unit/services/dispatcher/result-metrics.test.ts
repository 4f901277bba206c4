import { describe, expect, it } from '@jest/globals'
import { retryRecord } from '../../../../src/core/delivery/delivery-state.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { canarySource } from '../../../../src/core/message/own-event-builder-and-source-ids.ts'
import type { RecordHeaders } from '../../../../src/core/ports.ts'
import type { DurationMs } from '../../../../src/core/time.ts'
import { carriedOf, later, recordOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule, destination, ok } from '../../../support/dispatcher/harness.ts'

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

describe('a retry record that cannot be decoded counts as a dead letter', () => {
  const [tier] = defaultSchedule as [DurationMs]
  const deadLettersOf = ({ counts }: DispatcherHarness) =>
    [...counts].filter(([key]) => key.startsWith('deadLetters{')).map(([key]) => key)

  it.each<[string, RecordHeaders]>([
    ['valid', {}],
    ['malformed', { attempt: 'many' }],
  ])('of its destination, with %s headers', async (_name, changed) => {
    const harness = await DispatcherHarness.started()
    const { headers } = retryRecord(recordOf(), carriedOf({ deadline: later('4h', harness.clock.now()) }))
    harness.log.write(harness.topics.retry(tier), Buffer.from('no event'), 'key', { ...headers, ...changed })
    await harness.advance(tier)
    expect(harness.log.records(harness.topics.deadLetter)).toMatchObject([{ headers: { destination: 'crm' } }])
    expect(deadLettersOf(harness)).toEqual(['deadLetters{crm,undecodable}'])
    expect(harness.service.activity.results.of('crm').deadLettered).toBe(1)
  })

  it.each<[string, RecordHeaders]>([
    ['whose destination is not configured', { destination: 'removed' }],
    ['without a destination', { destination: '' }],
  ])('of no destination, in a record %s', async (_name, changed) => {
    const harness = await DispatcherHarness.started()
    const { headers } = retryRecord(recordOf(), carriedOf({ deadline: later('4h', harness.clock.now()) }))
    harness.log.write(harness.topics.retry(tier), Buffer.from('no event'), 'key', { ...headers, ...changed })
    await harness.advance(tier)
    expect(deadLettersOf(harness)).toEqual(['deadLetters{-,undecodable}'])
    expect(harness.service.activity.results.of('crm').deadLettered).toBe(0)
  })

  it('of the destination that the dead letter names', async () => {
    const harness = await DispatcherHarness.started()
    const { headers } = retryRecord(recordOf(), carriedOf({ deadline: later('4h', harness.clock.now()) }))
    const value = harness.codec.encode({
      ...{ sourceId: canarySource, destinationId: undefined, receivedAt: harness.clock.now(), canonical: false },
      ...{ origin: undefined, message: trackMessage('m') },
    })
    harness.log.write(harness.topics.retry(tier), value, 'key', headers)
    await harness.advance(tier)
    const [deadLetter] = harness.log.records(harness.topics.deadLetter)
    expect(deadLetter?.headers).toMatchObject({ reason: 'unknown_source' })
    expect(deadLetter?.headers).not.toHaveProperty('destination')
    expect(deadLettersOf(harness)).toEqual(['deadLetters{-,unknown_source}'])
  })
})
