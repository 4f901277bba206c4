import { expect, it } from '@jest/globals'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { runReplay } from '../../../../src/services/jobs/run-replay.ts'
import { replayJob } from '../../../support/jobs/builders.ts'
import { createMemoryOwnedJob } from '../../../support/jobs/memory-owned-job.ts'
import { MemoryTopicsProducer, whileWriting } from '../../../support/kafka/memory-topics.ts'
import { turns } from '../../../support/manual-clock.ts'
import { context, givenUp, ReplayHarness } from '../../../support/operator/replay-harness.ts'

it('continues after an outage of the schema registry, and has its error until then', async () => {
  const harness = new ReplayHarness([givenUp(1), givenUp(2)])
  const { clock, inputs, memoryTopics } = harness
  const producer = new MemoryTopicsProducer(memoryTopics)
  const { owned, changed } = createMemoryOwnedJob(producer)
  let isDown = true
  const events = async (): Promise<EventCodec> => {
    if (isDown) throw Object.assign(new Error('registry is down'), { code: 'registry_unavailable' })
    return harness.events()
  }
  const outcome = runReplay(
    { reader: memoryTopics.reader(), clock, events, inputs, context: () => context },
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
