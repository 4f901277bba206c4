import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createLogSessions } from '../../../src/adapters/kafka/log/log-sessions.ts'
import { deadLetterQueryOf } from '../../../src/core/operator/dead-letter-query.ts'
import type { DeadLetterPage } from '../../../src/core/operator/message-and-dead-letter-api.ts'
import { ReadBudget } from '../../../src/core/operator/read-budget.ts'
import { createDeadLetterReads } from '../../../src/services/operator/search-dead-letters-newest-first.ts'
import { tombstoneOf, writtenDeadLetter } from '../../support/operator/dead-letter-records.ts'
import { afterwards, appendAll, kafka, newTopic, producer } from './test-clients-and-topics.ts'

const partitions = 6
const codec = { decode: () => ({ kind: 'undecodable', detail: '' }) as const, learn: async () => false }

function pagesOf(topic: string, { records = 300_000 } = {}) {
  const sessions = createLogSessions({ kafka: kafka(), clock: processClock })
  afterwards(() => sessions.close())
  const reads = createDeadLetterReads({ topic, codec })
  const budget = () => new ReadBudget({ records, time: 60_000 }, () => processClock.monotonic())
  return {
    page(query: Readonly<Record<string, string>>): Promise<DeadLetterPage> {
      const read = deadLetterQueryOf(query, processClock.now())
      if (read.kind === 'invalid') throw new Error(JSON.stringify(read.problems))
      return sessions.use(session => reads.page(session, read.query, budget()))
    },
    find: (key: string) => sessions.use(session => reads.find(session, key, budget())),
  }
}

const idsOf = ({ deadLetters }: DeadLetterPage) => deadLetters.map(({ messageId }) => messageId)

describe('pages of dead letters', () => {
  it('stay valid while new ones arrive and replays remove some', async () => {
    const topic = await newTopic({ partitions })
    const written = Array.from({ length: 40 }, (_, number) => writtenDeadLetter(number))
    for (const record of written) await appendAll(producer(), topic, [record])
    const { page } = pagesOf(topic)
    const first = await page({ limit: '15' })
    expect(idsOf(first)).toEqual(Array.from({ length: 15 }, (_, index) => `m${39 - index}`))
    await appendAll(producer(), topic, [writtenDeadLetter(40), ...[20, 3].map(n => tombstoneOf(written[n] as never))])
    const second = await page({ limit: '15', after: first.next as string })
    const third = await page({ limit: '15', after: second.next as string })
    const left = Array.from({ length: 25 }, (_, index) => 24 - index).filter(number => number !== 20 && number !== 3)
    expect([...idsOf(second), ...idsOf(third)]).toEqual(left.map(number => `m${number}`))
    expect(third.next).toBeUndefined()
    expect(idsOf(await page({ limit: '1' }))).toEqual(['m40'])
    // Another process must find the same page without the index of the first process.
    expect(idsOf(await pagesOf(topic).page({ limit: '15', after: first.next as string }))).toEqual(idsOf(second))
  })

  it('of 30,000 dead letters read a bounded part each, and a search continues until it finds the only match', async () => {
    const topic = await newTopic({ partitions })
    await writeMany(topic, 30_000)
    const { page, find } = pagesOf(topic, { records: 7_000 })
    const first = await page({})
    expect([first.deadLetters.length, first.partial]).toEqual([100, undefined])
    expect((await page({ after: first.next as string })).deadLetters).toHaveLength(100)
    // The only match is among the oldest dead letters.
    let found = await page({ destination: 'rare' })
    let pages = 1
    for (; found.deadLetters.length === 0 && pages < 20; pages++) {
      expect(found.partial).toBe(true)
      found = await page({ destination: 'rare', after: found.next as string })
    }
    expect(idsOf(found)).toEqual(['m17'])
    expect(pages).toBeGreaterThan(1)
    const { record } = await find(found.deadLetters[0]?.key as string)
    expect(record?.headers['destination']).toBe('rare')
  })
})

async function writeMany(topic: string, count: number): Promise<void> {
  const writer = producer()
  for (let from = 0; from < count; from += 10_000) {
    const records = Array.from({ length: 10_000 }, (_, index) =>
      writtenDeadLetter(from + index, { destination: from + index === 17 ? 'rare' : 'crm' }),
    )
    await appendAll(writer, topic, records)
  }
}
