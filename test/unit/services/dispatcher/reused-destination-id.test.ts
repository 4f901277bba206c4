import { describe, expect, it } from '@jest/globals'
import { audiencesSource, canarySource } from '../../../../src/core/message/own-event-builder-and-source-ids.ts'
import { sourceOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const webhookAt = (url: string) => [{ label: '0', url, urlHash: '00000000', headers: {}, traceHeaders: false }]
const urlOfB = 'https://customer-b.example.com/'

/** The URLs of all requests, and the reasons of all dead letters. */
const resultsIn = ({ calls, log, topics }: DispatcherHarness) => ({
  requests: calls.map(({ call }) => call.url),
  deadLetters: log.records(topics.deadLetter).map(({ headers }) => headers['reason']),
})

/**
 * A delivery of the source waits for `crm` of customer A. Then `crm` is deleted, and customer B gets
 * a destination with this id and the source `shop`.
 */
async function reused(sourceId: string, { enabled = true, restarts = false } = {}) {
  let isDown = true
  const urlOfA = 'https://customer-a.example.com/'
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm', { sources: ['web', 'shop'], webhooks: webhookAt(urlOfA) })],
    answer: () => (isDown ? answered(503) : ok),
  })
  harness.sources = [...harness.sources, sourceOf('shop')]
  harness.write({
    message: trackMessage('of-customer-a'),
    sourceId,
    ...(sourceId === audiencesSource && { destinationId: 'crm' }),
  })
  await harness.advance(1)
  expect(resultsIn(harness).requests).toEqual([urlOfA])
  harness.destinations = []
  await harness.advance(5_000)
  const createdAt = harness.clock.now()
  harness.destinations = [destination('crm', { sources: ['shop'], webhooks: webhookAt(urlOfB), enabled, createdAt })]
  isDown = false
  if (restarts) await harness.restart()
  await harness.advance(120_000)
  const { requests, deadLetters } = resultsIn(harness)
  return { toB: requests.slice(1), deadLetters, harness }
}

describe('a delivery that waits while its destination is deleted and created again', () => {
  const isDead = { toB: [], deadLetters: ['unknown_destination'] }

  it('is a dead letter if the new destination has other sources', async () => {
    expect(await reused('web')).toMatchObject(isDead)
  })

  it('is a dead letter also after a restart of the process', async () => {
    expect(await reused('web', { restarts: true })).toMatchObject(isDead)
  })

  it('is a dead letter, and not dropped, if the new destination is disabled', async () => {
    expect(await reused('web', { enabled: false })).toMatchObject(isDead)
  })

  it('is a dead letter if it is an audience change', async () => {
    expect(await reused(audiencesSource)).toMatchObject(isDead)
  })

  it('goes to the new destination if that has its source', async () => {
    expect(await reused('shop')).toMatchObject({ toB: [urlOfB], deadLetters: [] })
  })

  it('does not stop the events of the new destination', async () => {
    const { harness } = await reused('web')
    harness.write({ message: trackMessage('of-customer-b'), sourceId: 'shop' })
    await harness.advance(1)
    expect(resultsIn(harness).requests.at(-1)).toBe(urlOfB)
  })
})

it('delivers waiting events after the destination loses their source', async () => {
  let isDown = true
  const harness = await DispatcherHarness.started({ answer: () => (isDown ? answered(503) : ok) })
  const createdAt = harness.clock.now()
  harness.destinations = [destination('crm', { createdAt })]
  harness.write({ message: trackMessage('a') })
  await harness.advance(1)
  harness.destinations = [destination('crm', { sources: ['shop'], createdAt })]
  isDown = false
  await harness.advance(120_000)
  expect(resultsIn(harness)).toMatchObject({ requests: { length: 2 }, deadLetters: [] })
})

it('delivers a canary message that was read before its destination was created', async () => {
  const harness = await DispatcherHarness.started()
  harness.write({ message: trackMessage('canary'), sourceId: canarySource, destinationId: 'new' })
  await harness.advance(1_000)
  harness.destinations = [destination('new', { createdAt: harness.clock.now() })]
  await harness.advance(60_000)
  expect(resultsIn(harness)).toMatchObject({ requests: { length: 1 }, deadLetters: [] })
})
