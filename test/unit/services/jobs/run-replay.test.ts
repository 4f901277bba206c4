import { expect, it } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import type { ReplayJob } from '../../../../src/core/jobs/job.ts'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { runReplay } from '../../../../src/services/jobs/run-replay.ts'
import { destinationOf, sourceOf } from '../../../support/builders.ts'
import { replayJob } from '../../../support/jobs/builders.ts'
import { createMemoryOwnedJob } from '../../../support/jobs/memory-owned-job.ts'
import { MemoryTopicsProducer, whileWriting } from '../../../support/kafka/memory-topics-for-replays.ts'
import { turns } from '../../../support/manual-clock.ts'
import { context, givenUp, ReplayHarness, refusedEvent, topics } from '../../../support/operator/replay-harness.ts'

async function runToEnd(harness: ReplayHarness, job: Partial<ReplayJob>, refuses?: MemoryTopicsProducer['refuses']) {
  const { clock, events, inputs, countPartitions, memoryTopics } = harness
  const producer = new MemoryTopicsProducer(memoryTopics, refuses)
  const { owned, changed } = createMemoryOwnedJob(producer)
  const deps = { reader: memoryTopics.reader(), clock, events, inputs, countPartitions, context: () => context }
  const running = runReplay(deps, replayJob('r', { filters: {}, ends: [10_000, 10_000], ...job }), owned)
  await clock.advance(10_000, turns)
  return { outcome: await whileWriting(producer, running), changed: changed() }
}

it('a dead letter that is too large for its target topic does not stop the others', async () => {
  const harness = new ReplayHarness(Array.from({ length: 600 }, (_, n) => refusedEvent(n, 'unknown_source')))
  const tooLarge = Object.assign(new Error('too large'), { code: 'MESSAGE_TOO_LARGE', retriable: false })
  const { outcome, changed } = await runToEnd(
    harness,
    {},
    (topic, { key }) => topic === topics.events && String(key) === 'user-0' && tooLarge,
  )
  expect(outcome).toEqual({})
  expect(changed).toMatchObject({
    progress: { seen: 600, total: 600, replayed: 599, refused: 1 },
    counts: [{ destination: '-', reason: 'unknown_source', refusal: 'too_large', count: 1 }],
  })
})

it('a dry run with more than 200 rows has the sums of all rows in its progress', async () => {
  const ids = Array.from({ length: 300 }, (_, n) => `gone-${n}`)
  const deadLetters = ids.flatMap((id, n) => [givenUp(2 * n, id), refusedEvent(2 * n)])
  const { changed } = await runToEnd(new ReplayHarness([...deadLetters, refusedEvent(601)]), { isDryRun: true })
  expect(changed.counts).toHaveLength(200)
  expect(changed.progress).toEqual({ seen: 601, total: 601, replayed: 0, replayable: 301, refused: 300 })
})

it('waits for a destination that only the process that created the job knows yet', async () => {
  const harness = new ReplayHarness([givenUp(1, 'late'), givenUp(2)])
  const { clock, events, inputs, countPartitions, memoryTopics } = harness
  const producer = new MemoryTopicsProducer(memoryTopics)
  const { owned, changed } = createMemoryOwnedJob(producer)
  let current = context
  const deps = { reader: memoryTopics.reader(), clock, events, inputs, countPartitions, context: () => current }
  const outcome = runReplay(deps, replayJob('r', { filters: {}, ends: [100, 100] }), owned)
  await clock.advance(2_000, turns)
  const destinations = [destinationOf(), destinationOf({ id: 'late' })]
  current = { ...context, routing: createRouting({ sources: [sourceOf('web')], destinations }) }
  await clock.advance(1_000, turns)
  expect(await whileWriting(producer, outcome)).toEqual({})
  expect(changed()).toMatchObject({ progress: { seen: 2, replayed: 2, refused: 0 }, counts: [] })
})

it('counts a refused dead letter, even if it is the last one', async () => {
  const { changed } = await runToEnd(new ReplayHarness([givenUp(1, 'gone')]), {})
  expect(changed.progress).toEqual({ seen: 1, total: 1, replayed: 0, refused: 1 })
})

it('truncates long texts of other producers in its counts', async () => {
  const long = 'x'.repeat(6_000)
  const deadLetter = refusedEvent(1)
  const harness = new ReplayHarness([
    { ...deadLetter, headers: { ...deadLetter.headers, destination: long, reason: long } },
  ])
  const { changed } = await runToEnd(harness, {})
  const text = 'x'.repeat(1_000)
  expect(changed.counts).toEqual([{ destination: text, reason: text, refusal: 'unknown_destination', count: 1 }])
})

it('continues after an outage of the schema registry, and has its error until then', async () => {
  const harness = new ReplayHarness([givenUp(1), givenUp(2)])
  const { clock, inputs, countPartitions, memoryTopics } = harness
  const producer = new MemoryTopicsProducer(memoryTopics)
  const { owned, changed } = createMemoryOwnedJob(producer)
  let isDown = true
  const events = async (): Promise<EventCodec> => {
    if (isDown) throw Object.assign(new Error('registry is down'), { code: 'registry_unavailable' })
    return harness.events()
  }
  const outcome = runReplay(
    { reader: memoryTopics.reader(), clock, events, inputs, countPartitions, context: () => context },
    replayJob('r', { filters: {}, ends: [100, 100] }),
    owned,
  )
  await clock.advance(3_600_000, turns)
  expect(changed()).toMatchObject({ error: 'registry is down', progress: { seen: 1, total: 2, replayed: 0 } })

  isDown = false
  await clock.advance(60_000, turns)
  expect(await whileWriting(producer, outcome)).toEqual({})
  expect(changed()).toMatchObject({ error: undefined, progress: { seen: 2, total: 2, replayed: 2, refused: 0 } })
  expect(harness.parked.toSorted()).toEqual(['crm m-1 1', 'crm m-2 1'])
})
