import { expect, it } from '@jest/globals'
import type { WithLogSession } from '../../../../src/core/log-session.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { createReadStatus, maxStatusTime, type ReadStatusDeps } from '../../../../src/services/operator/read-status.ts'
import { duration } from '../../../support/builders.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { memoryObjects } from '../../../support/operator/memory-objects.ts'
import { noStatusView } from '../../../support/operator/no-status-view.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

/*
 * Tests of 11 concurrent requests: ten for the status of one destination each, and one for the
 * status of the installation.
 */

/**
 * Sends 11 requests to a service whose log sessions begin to read after `sessionMs`. Returns the
 * answers, and the number of sessions (`reads`).
 */
async function answersAfter(sessionMs: number) {
  const clock = new ManualClock()
  const log = new MemorySession(2)
  const filed = (await memoryObjects(clock)).objects.get('destination', 'filed')!
  const objects: ReadStatusDeps['objects'] = { list: () => [], get: (_kind, id) => ({ ...filed, id }) }
  let reads = 0
  const sessions: WithLogSession = async use => {
    reads++
    await new Promise<void>(resolve => void clock.after(sessionMs, resolve))
    return use(log)
  }
  const { destinationStatus, status } = createReadStatus({
    ...{
      objects,
      sessions,
      topics: topicNames('hookline'),
      tiers: [duration('10s')],
      earlierTiers: [],
      version: '1.2.3',
    },
    log: { lastFailures: async () => ({ lastFailures: [], isPartial: false }) },
    ...{ live: noStatusView, clock, logger: silent },
  })
  const started = clock.monotonic()
  const timed = async <T>(answer: Promise<T>) => ({ answer: await answer, ms: clock.monotonic() - started })
  const ids = Array.from({ length: 10 }, (_, index) => `d-${index}`)
  const all = Promise.all([...ids.map(id => timed(destinationStatus(id))), timed(status())])
  await clock.advance(10 * sessionMs, () => new Promise(setImmediate))
  return { reads, answers: await all }
}

it('all requests get an answer in time, and only the first ones cause a read', async () => {
  const { reads, answers } = await answersAfter(700)
  expect(reads).toBe(2)
  for (const [index, { answer, ms }] of answers.entries()) {
    expect(ms).toBeLessThanOrEqual(maxStatusTime)
    if (index < 2) expect(answer).not.toHaveProperty('partial')
    else expect(answer).toHaveProperty('partial', true)
  }
  expect(answers[9]?.answer).toMatchObject({ id: 'd-9', waiting: [], circuitBreaker: { state: 'closed' } })
  expect(answers[10]?.answer).toMatchObject({ groups: [], services: [] })
})

it('all requests get a partial answer in time while Kafka does not respond', async () => {
  const { reads, answers } = await answersAfter(60_000)
  expect(reads).toBe(1)
  for (const { answer, ms } of answers) {
    expect(ms).toBeLessThanOrEqual(maxStatusTime)
    expect(answer).toHaveProperty('partial', true)
  }
})
