import { describe, expect, it } from '@jest/globals'
import type { RecordedAttempt } from '../../../../src/core/delivery/attempt-details-and-recording-rule.ts'
import { encodeAttempt } from '../../../../src/core/delivery/attempt-facts-and-record.ts'
import { ReadBudget } from '../../../../src/core/operator/read-budget.ts'
import type { RecordedAttempts } from '../../../../src/core/settings/schema-of-attempts-topic.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { readLastFailures } from '../../../../src/services/operator/last-failures.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { foundAttempt, start } from '../../../support/operator/timeline-input.ts'

const topics = topicNames('hookline')

function topicWith(count: number, more: (number: number) => Partial<RecordedAttempt> = () => ({})): MemorySession {
  const session = new MemorySession(2)
  for (let number = 0; number < count; number++) {
    const failed = { decision: 'retried', outcomes: { 0: 'timeout' }, messageId: `m${number}` } as const
    const { at: _, ...facts } = foundAttempt({ ...failed, ...more(number) } as never)
    const value = Buffer.from(encodeAttempt(facts, epochMs(start + number)))
    session.append(topics.attempts, number % 2, start + number, { key: Buffer.from(`m${number}`), value, headers: {} })
  }
  return session
}
const read = (
  session: MemorySession,
  {
    records = 100_000,
    recorded = 'failures',
  }: { readonly records?: number; readonly recorded?: RecordedAttempts } = {},
) => readLastFailures(session, { topics, recorded }, 'crm', new ReadBudget({ records, time: 1e9 }, () => 0))

describe('the last failures of a destination', () => {
  it('are its newest 50 failed attempts, newest first', async () => {
    const { lastFailures, isPartial } = await read(topicWith(120))
    expect(lastFailures?.map(({ messageId }) => messageId)).toEqual(
      Array.from({ length: 50 }, (_, index) => `m${119 - index}`),
    )
    expect(lastFailures?.[0]).toEqual({
      ...{ messageId: 'm119', sourceId: 'web', type: 'track', at: '2026-03-01T00:00:00.119Z', number: 1 },
      ...{ durationMs: 12, decision: 'retried', webhook: '0', outcome: 'timeout' },
    })
    expect(isPartial).toBe(false)
  })

  it('are neither successes, nor those of others, nor ends without an attempt', async () => {
    const kinds: readonly Partial<RecordedAttempt>[] = [
      { decision: 'delivered' },
      { destination: 'ads', source: 'crm' },
      { kind: 'result', outcomes: {} },
      {},
    ]
    const { lastFailures } = await read(topicWith(8, number => kinds[number % 4]!))
    expect(lastFailures?.map(({ messageId }) => messageId)).toEqual(['m7', 'm3'])
  })

  it('are partial when the time is over before 50 were found', async () => {
    const session = topicWith(6_000, number => ({ destination: number === 0 ? 'crm' : 'ads' }))
    expect(await read(session, { records: 1 })).toEqual({ lastFailures: [], isPartial: true })
    expect((await read(session)).lastFailures).toMatchObject([{ messageId: 'm0' }])
  })

  it('are absent when attempts are not recorded', async () => {
    expect(await read(topicWith(1), { recorded: 'off' })).toEqual({ isPartial: false })
  })
})
