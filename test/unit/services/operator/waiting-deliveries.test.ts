import { expect, it } from '@jest/globals'
import { initialState, toHeaders } from '../../../../src/core/delivery/delivery-state.ts'
import { ReadBudget } from '../../../../src/core/operator/read-budget.ts'
import { doneAheadText } from '../../../../src/core/progress/commit-metadata.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { readWaitingDeliveries } from '../../../../src/services/operator/waiting-deliveries.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'

const topics = topicNames('hookline')
const current = durationMs(10_000)
const earlier = durationMs(20_000)
const at = epochMs(0)

/** Three records of `crm` wait in the retry topic of 10 s. */
function waitingIn(session: MemorySession) {
  const origin = { topic: topics.events, partition: 0, offset: 1, timestamp: at }
  const headers = toHeaders(initialState(origin, 'crm', 'm-1', at, durationMs(1)))
  for (let count = 0; count < 3; count++)
    session.append(topics.retry(current), 0, at, { key: null, value: Buffer.from('e'), headers })
  const deps = { topics, tiers: [current, earlier], earlierTiers: [earlier] }
  return readWaitingDeliveries(session, deps, 'crm', new ReadBudget({ records: 100, time: 100 }, () => 0))
}

it('deliveries after the committed offset that are done do not wait', async () => {
  const session = new MemorySession()
  session.commit(topics.retriesGroup, topics.retry(current), [{ offset: 0, metadata: doneAheadText(0, [1]) }])
  expect(await waitingIn(session)).toMatchObject({ waiting: [{ tier: '10s', records: 2 }], isPartial: false })
})

it('a retry topic of an earlier schedule may be missing', async () => {
  const session = new MemorySession()
  session.missing.add(topics.retry(earlier))
  expect(await waitingIn(session)).toMatchObject({ waiting: [{ tier: '10s', records: 3 }], isPartial: false })
})

it('a retry topic of the current schedule must exist', async () => {
  const session = new MemorySession()
  const waiting = waitingIn(session)
  session.missing.add(topics.retry(current))
  await expect(waiting).rejects.toMatchObject({ code: 'TOPIC_MISSING' })
})
