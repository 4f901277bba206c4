import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { DeadLetterIndex } from '../../../../src/core/operator/dead-letter-index.ts'
import { deadLetterQueryOf } from '../../../../src/core/operator/dead-letter-query.ts'
import type { DeadLetterPage } from '../../../../src/core/operator/message-and-dead-letter-api.ts'
import { ReadBudget } from '../../../../src/core/operator/read-budget.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { createDeadLetterReads } from '../../../../src/services/operator/search-dead-letters-newest-first.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { tombstoneOf, writtenDeadLetter } from '../../../support/operator/dead-letter-records.ts'

const topic = 'hookline.dead-letter'
const partitions = 3
const codec = { decode: () => ({ kind: 'undecodable', detail: '' }) as const, learn: async () => false }

type Step =
  | { readonly kind: 'write'; readonly partition: number; readonly isRare: boolean }
  | { readonly kind: 'replay'; readonly which: number }
  | { readonly kind: 'rewrite'; readonly which: number }
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      partition: fc.nat(partitions - 1),
      isRare: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replay' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rewrite' as const), which: fc.nat() }) },
)

/** A dead-letter topic, and a model of its dead letters by key, without the replayed ones. */
class Topic {
  readonly session = new MemorySession(partitions)
  readonly live = new Map<string, { at: number; destination: string }>()
  readonly #written: { partition: number; record: ReturnType<typeof writtenDeadLetter>; destination: string }[] = []
  /** In ms since 1970. */
  #now = 1_700_000_000_000

  apply(step: Step): void {
    this.#now += 10
    if (step.kind === 'write') {
      const destination = step.isRare ? 'rare' : 'crm'
      const record = writtenDeadLetter(this.#written.length, { destination })
      this.#written.push({ partition: step.partition, record, destination })
      return this.#append(this.#written.length - 1)
    }
    if (this.#written.length === 0) return
    const which = step.which % this.#written.length
    if (step.kind === 'rewrite') return this.#append(which)
    const { partition, record } = this.#written[which]!
    this.session.append(topic, partition, this.#now, tombstoneOf(record))
    this.live.delete(String(record.key))
  }

  #append(which: number): void {
    const { partition, record, destination } = this.#written[which]!
    this.session.append(topic, partition, this.#now, record)
    this.live.set(String(record.key), { at: this.#now, destination })
  }
}

const steps = fc.array(step, { maxLength: 60 })

describe('pages of dead letters', () => {
  it('together have each dead letter once, newest first, whatever is written between them', async () => {
    const given = fc.record({
      steps,
      between: steps,
      limit: fc.integer({ min: 1, max: 7 }),
      isRare: fc.boolean(),
      // Maximum number of records that one request may read.
      records: fc.constantFrom(1, 10, 1_000),
      isFresh: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(given, async ({ steps, between, limit, isRare, records, isFresh }) => {
        const log = new Topic()
        for (const each of steps) log.apply(each)
        let reads = createDeadLetterReads({ topic, codec })
        const query = { limit: String(limit), ...(isRare && { destination: 'rare' }) }
        const before = new Map(log.live)
        const shown: DeadLetterPage['deadLetters'][number][] = []
        let after: string | undefined
        let pages = 0
        do {
          const read = deadLetterQueryOf({ ...query, ...(after !== undefined && { after }) }, epochMs(0))
          if (read.kind === 'invalid') throw new Error(JSON.stringify(read.problems))
          const page: DeadLetterPage = await reads.page(
            log.session,
            read.query,
            new ReadBudget({ records, time: 1e9 }, () => 0),
          )
          shown.push(...page.deadLetters)
          after = page.next
          if (pages++ === 0) {
            for (const each of between) log.apply(each)
            // A process that has not read any keys yet continues the pages.
            if (isFresh) reads = createDeadLetterReads({ topic, codec })
          }
        } while (after !== undefined && pages < 500)
        expect(pages).toBeLessThan(500)
        const keys = shown.map(({ key }) => key)
        expect(new Set(keys).size).toBe(keys.length)
        const times = shown.map(({ at }) => Date.parse(at))
        expect(times).toEqual(times.toSorted((a, b) => b - a))
        const isWanted = ({ destination }: { destination: string }): boolean => !isRare || destination === 'rare'
        for (const [key, known] of before)
          if (isWanted(known) && log.live.get(key)?.at === known.at) expect(keys).toContain(key)
        for (const key of keys) expect(before.has(key) || log.live.has(key)).toBe(true)
      }),
    )
  })

  it('find the dead letter of a key exactly when it is live', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (steps, isListed) => {
        const log = new Topic()
        for (const each of steps) log.apply(each)
        const reads = createDeadLetterReads({ topic, codec })
        const budget = () => new ReadBudget({ records: 1_000, time: 1e9 }, () => 0)
        const read = deadLetterQueryOf({ limit: '500' }, epochMs(0))
        if (isListed && read.kind === 'query') await reads.page(log.session, read.query, budget())
        for (let number = 0; number < 60; number++)
          for (const destination of ['crm', 'rare']) {
            const key = String(writtenDeadLetter(number, { destination }).key)
            const { record, isComplete } = await reads.find(log.session, key, budget())
            // The record must be found even if added partitions have changed the partition of the
            // key.
            expect([key, record !== undefined]).toEqual([key, log.live.has(key)])
            expect(isComplete).toBe(true)
          }
      }),
      { numRuns: 30 },
    )
  })

  it('do not say that a dead letter is absent when the budget ended before the last partition', async () => {
    const log = new Topic()
    for (let number = 0; number < 30; number++) log.apply({ kind: 'write', partition: number % 3, isRare: false })
    const key = String(writtenDeadLetter(99, { destination: 'crm' }).key)
    const reads = createDeadLetterReads({ topic, codec })
    const found = await reads.find(log.session, key, new ReadBudget({ records: 5, time: 1e9 }, () => 0))
    expect(found).toEqual({ record: undefined, isComplete: false })
  })

  it('are marked partial when there are more keys than can be known', async () => {
    const log = new Topic()
    for (let number = 0; number < 20; number++) log.apply({ kind: 'write', partition: 0, isRare: false })
    const reads = createDeadLetterReads({ topic, codec, index: new DeadLetterIndex(5) })
    const read = deadLetterQueryOf({}, epochMs(0))
    if (read.kind === 'invalid') throw new Error('invalid')
    const page = await reads.page(log.session, read.query, new ReadBudget({ records: 100, time: 1e9 }, () => 0))
    expect([page.deadLetters.length, page.partial]).toEqual([20, true])
  })
})
