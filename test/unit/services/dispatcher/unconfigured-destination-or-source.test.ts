import { expect, it } from '@jest/globals'
import { sourceOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const ids = (harness: DispatcherHarness) => harness.calls.map(({ call }) => call.headers['X-Message-Id'])

it('delivers an event when its destination is configured later; the window starts at the first read', async () => {
  const harness = await DispatcherHarness.started({ answer: () => answered(503) })
  for (const id of ['a', 'b']) harness.write({ message: trackMessage(id), destinationId: 'new' })
  const readAt = harness.clock.now()
  await harness.advance(35_000)
  expect([ids(harness), harness.log.records(harness.topics.deadLetter)]).toEqual([[], []])
  expect(harness.count('deferrals{unconfigured}')).toBe(4)
  harness.destinations = [destination('new')]
  await harness.advance(10_000)
  expect(ids(harness)).toEqual(['a', 'b'])
  const retried = harness.log.records(harness.topics.retry(10_000 as never)).at(-1)
  expect(retried?.headers).toMatchObject({
    destination: 'new',
    deadline: String(readAt + 4 * 3_600_000),
    attempt: '1',
    round: '0',
  })
})

it('delivers an event when its source is configured later', async () => {
  const harness = await DispatcherHarness.started({ destinations: [destination('crm', { sources: ['web', 'new'] })] })
  harness.write({ message: trackMessage('a'), sourceId: 'new' })
  harness.write({ message: trackMessage('b') })
  await harness.advance(35_000)
  expect(ids(harness)).toEqual(['b'])
  harness.sources = [...harness.sources, sourceOf('new')]
  await harness.advance(10_000)
  expect([ids(harness), harness.log.records(harness.topics.deadLetter)]).toEqual([['b', 'a'], []])
})

it('dead-letters an event for an unknown destination after 100 s, with its position', async () => {
  const harness = await DispatcherHarness.started()
  harness.write({ message: trackMessage('a'), sourceId: 'gone' })
  harness.write({ message: trackMessage('b'), destinationId: 'gone' })
  await harness.advance(99_000)
  expect(harness.log.records(harness.topics.deadLetter)).toEqual([])
  await harness.advance(2_000)
  const headers = harness.log.records(harness.topics.deadLetter).map(record => record.headers)
  expect(headers).toMatchObject([
    { reason: 'unknown_source', 'message-id': 'a', 'origin-topic': harness.topics.events, 'origin-offset': '0' },
    { reason: 'unknown_destination', 'message-id': 'b', destination: 'gone', 'origin-offset': '1' },
  ])
  expect(headers[0]).not.toHaveProperty('destination')
})

it('defers a retry for an unknown destination once, for a minute', async () => {
  let status = 503
  const answer = () => (status === 200 ? ok : answered(status))
  const harness = await DispatcherHarness.started({ answer })
  harness.write({ message: trackMessage('a') })
  await harness.advance(1)
  const before = harness.destinations
  harness.destinations = []
  await harness.advance(30_000)
  harness.destinations = before
  status = 200
  await harness.advance(60_000)
  expect([ids(harness), harness.log.records(harness.topics.deadLetter)]).toEqual([['a', 'a'], []])
})

it('dead-letters that retry when the destination is still unknown', async () => {
  const harness = await DispatcherHarness.started({ answer: () => answered(503) })
  harness.write({ message: trackMessage('a') })
  await harness.advance(1)
  harness.destinations = []
  await harness.advance(71_000)
  expect(harness.log.records(harness.topics.deadLetter).map(({ headers }) => headers['reason'])).toEqual([
    'unknown_destination',
  ])
})
