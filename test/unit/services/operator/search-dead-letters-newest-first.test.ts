import { expect, it } from '@jest/globals'
import { ReadBudget } from '../../../../src/core/operator/read-budget.ts'
import { createDeadLetterReads } from '../../../../src/services/operator/search-dead-letters-newest-first.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { writtenDeadLetter } from '../../../support/operator/dead-letter-records.ts'

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
