import { describe, expect, it } from '@jest/globals'
import { DeadLetterIndex } from '../../../../src/core/operator/dead-letter-index.ts'
import type { DeadLetterQuery } from '../../../../src/core/operator/dead-letter-query.ts'
import { ReadBudget } from '../../../../src/core/operator/read-budget.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { createDeadLetterReads } from '../../../../src/services/operator/search-dead-letters-newest-first.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { tombstoneOf, writtenDeadLetter } from '../../../support/operator/dead-letter-records.ts'

const topic = 'hookline.dead-letter'
const codec = { decode: () => ({ kind: 'undecodable', detail: '' }) as const, learn: async () => false }

it('a repeated request for a dead letter continues the search where the first one ended', async () => {
  const session = new MemorySession()
  const written = Array.from({ length: 3_000 }, (_, number) => writtenDeadLetter(number))
  for (const record of written) session.append(topic, 0, 1_700_000_000_000, record)
  const { find } = createDeadLetterReads({ topic, codec })
  const oldest = String(written[0]?.key)
  const found: boolean[] = []
  for (let requests = 0; requests < 5 && found.at(-1) !== true; requests++) {
    const { record } = await find(session, oldest, new ReadBudget({ records: 1_000, time: 1 }, () => 0))
    found.push(record !== undefined)
  }
  expect(found).toEqual([false, false, true])
  expect(session.count).toBeLessThan(3_100)
})

it('a dead letter that Kafka has deleted since it was found is not found again', async () => {
  const session = new MemorySession()
  const written = Array.from({ length: 10 }, (_, number) => writtenDeadLetter(number))
  for (const record of written) session.append(topic, 0, 1_700_000_000_000, record)
  const { find } = createDeadLetterReads({ topic, codec })
  const budget = () => new ReadBudget({ records: 1_000, time: 1 }, () => 0)
  const key = String(written[3]?.key)
  expect((await find(session, key, budget())).record).toBeDefined()
  session.removed.set(`${topic}/0`, 5)
  expect(await find(session, key, budget())).toEqual({ record: undefined, isComplete: true })
})

describe.each([
  [0, 1],
  [1, 0],
])('after the index was full, and Kafka has deleted records of partition %i, partition %i', (shrunk, grown) => {
  const firstAt = 1_700_000_000_000
  const budget = () => new ReadBudget({ records: 10_000, time: 1 }, () => 0)
  const query = (filter: DeadLetterQuery['filter'] = {}) => ({ filter, limit: 100, before: undefined })

  /** An index with all keys of both partitions, which is full. */
  async function full() {
    const session = new MemorySession(2)
    for (let n = 0; n < 20; n++) session.append(topic, n % 2, firstAt + n, writtenDeadLetter(n))
    const reads = createDeadLetterReads({ topic, codec, index: new DeadLetterIndex(20) })
    const { deadLetters, partial } = await reads.page(session, query(), budget())
    expect([deadLetters.length, partial]).toEqual([20, true])
    const shrink = () => session.removed.set(`${topic}/${shrunk}`, 5)
    return { session, reads, shrink }
  }

  it('has all its dead letters', async () => {
    const { session, reads, shrink } = await full()
    const added = writtenDeadLetter(50)
    session.append(topic, grown, firstAt + 50, added)
    await reads.page(session, query(), budget())
    shrink()
    const { record, isComplete } = await reads.find(session, String(added.key), budget())
    expect([record?.key, isComplete]).toEqual([added.key, true])
  })

  it('does not list its replayed dead letters', async () => {
    const { session, reads, shrink } = await full()
    const added = writtenDeadLetter(50)
    session.append(topic, grown, firstAt + 50, added)
    session.append(topic, grown, firstAt + 60, tombstoneOf(added))
    await reads.page(session, query(), budget())
    shrink()
    const page = await reads.page(session, query({ until: epochMs(firstAt + 55) }), budget())
    expect([page.deadLetters.length, page.partial]).toEqual([15, undefined])
    expect(page.deadLetters.map(({ key }) => key)).not.toContain(String(added.key))
  })
})
