import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import type { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'
import { createPartitions } from '../../../../src/services/partitions/partitions.ts'
import { recordOf } from '../../../support/builders.ts'
import { type Fetch, noAdmission, partition, ScriptedConsumer } from '../../../support/kafka/scripted-consumer.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'
import { type Kind, ProcessorOracle } from './processor-oracle.ts'

const maxInFlight = 1
const small = Buffer.alloc(10)
const large = Buffer.alloc(1024 * 1024)

/**
 * Unused offsets before a record. After four large gaps, the offsets are too far apart for the
 * commit metadata.
 */
const gap = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.constant(6_500) },
)
const log = fc.array(
  fc.record({
    gap,
    laterMs: fc.nat(2_000),
    kind: fc.constantFrom<Kind[]>('waits', 'waits', 'waits', 'done immediately', 'needs a schema'),
    isLarge: fc.boolean(),
  }),
  { maxLength: 150, size: 'max' },
)
const fetch: fc.Arbitrary<Fetch> = fc.oneof(
  fc.record({ count: fc.nat(40), withGap: fc.boolean(), again: fc.nat(3) }),
  fc.record({ count: fc.nat(40), withGap: fc.boolean(), late: fc.constant(true) }),
)
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('fetch' as const), fetch }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('done' as const), which: fc.array(fc.nat(), { maxLength: 8 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 20_000 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('learn' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('recheck limits' as const), usesStalledLimits: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stray' as const), count: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('assign' as const) }) },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

const run = fc.record({
  log,
  tail: fc.nat(3),
  /** Time from the append of a record until it is due, in ms. */
  delayMs: fc.option(fc.constantFrom(1, 5_000, 30_000), { nil: undefined }),
  /**
   * Number of other partitions of the process. With 40 or 900, few records of this partition stay
   * in memory.
   */
  others: fc.constantFrom(0, 40, 900),
  commands: fc.array(command, { maxLength: 80, size: 'max' }),
})
type Run = typeof run extends fc.Arbitrary<infer T> ? T : never

class Both {
  readonly #clock = new ManualClock()
  readonly #kinds = new Map<number, Kind>()
  readonly #oracle: ProcessorOracle
  readonly #consumer: ScriptedConsumer
  readonly #partitions: ReturnType<typeof createPartitions>
  readonly #open = new Map<number, { record: LogRecord; processor: PartitionProcessor }>()
  /** Records of earlier assignments that were not done at the revocation. */
  readonly #stale: { record: LogRecord; processor: PartitionProcessor }[] = []
  #taken: number[] = []
  /** Processors that wait for a schema, including those of earlier assignments. */
  #waiting: PartitionProcessor[] = []
  #committed = { offset: 0, metadata: '' }
  #usesStalledLimits = false

  constructor({ log, tail, delayMs, others }: Run) {
    let [offset, timestamp] = [-1, Number(this.#clock.now())]
    const records = log.map(each => {
      offset += 1 + each.gap
      timestamp += each.laterMs
      this.#kinds.set(offset, each.kind)
      const value = each.isLarge ? large : small
      return recordOf({ ...partition, offset, timestamp: epochMs(timestamp), key: null, value })
    })
    const end = offset + 1 + tail
    this.#consumer = new ScriptedConsumer(records, end)
    const dueAt = delayMs === undefined ? undefined : (of: LogRecord) => epochMs(of.timestamp + delayMs)
    this.#partitions = createPartitions({
      consumer: this.#consumer,
      clock: this.#clock,
      logger: silent,
      maxInFlight,
      dueAt,
      admission: {
        ...noAdmission,
        usesStalledLimits: () => this.#usesStalledLimits,
        admit: (record, processor) => this.#take(record, processor),
      },
    })
    const { handlers } = this.#partitions
    void this.#consumer.start(handlers)
    handlers.onAssigned(
      Array.from({ length: others }, (_, each) => ({ topic: 'other', partition: each, offset: 0, metadata: '' })),
    )
    const kindOf = (of: number): Kind => this.#kinds.get(of) ?? 'waits'
    this.#oracle = new ProcessorOracle({ records, end, kindOf, others, maxInFlight, delayMs, now: this.#clock.now() })
  }

  #take(record: LogRecord, processor: PartitionProcessor): void {
    this.#taken.push(record.offset)
    this.#open.set(record.offset, { record, processor })
    const kind = this.#kinds.get(record.offset)
    if (kind === 'done immediately') this.#done(record.offset)
    if (kind !== 'needs a schema') return
    this.#waiting.push(processor)
    processor.pause('schema')
  }

  #done(offset: number): void {
    const { record, processor } = this.#open.get(offset) ?? {}
    this.#open.delete(offset)
    if (record !== undefined) processor?.done(record)
  }

  async apply(command: Command): Promise<void> {
    const [oracle, consumer] = [this.#oracle, this.#consumer]
    switch (command.kind) {
      case 'fetch':
        return oracle.mayFetch(command.fetch) ? this.#fetch(command.fetch) : undefined
      case 'done':
        for (const which of command.which) this.#endOne(which)
        return
      case 'wait':
        await this.#clock.advance(command.ms)
        return oracle.wait(this.#clock.now())
      case 'learn':
        for (const processor of this.#waiting.splice(0)) processor.resume('schema')
        return oracle.learn()
      case 'recheck limits':
        this.#usesStalledLimits = command.usesStalledLimits
        for (const processor of this.#partitions.processors()) processor.recheckLimits()
        return oracle.recheckLimits(command.usesStalledLimits)
      case 'stray':
        return oracle.isNotDue ? consumer.stray(command.count) : undefined
      case 'commit':
        return this.#commit()
      case 'revoke':
        consumer.revoke()
        return this.#forget()
      case 'assign':
        this.#forget()
        consumer.assign(this.#committed)
        return oracle.assign(this.#committed)
    }
  }

  #fetch(fetch: Fetch): void {
    this.#oracle.fetch(fetch)
    this.#consumer.fetch(fetch)
  }

  /** Marks a record as done: usually one in progress, sometimes one of an earlier assignment. */
  #endOne(which: number): void {
    if (which % 5 === 0) {
      const [stale] = this.#stale.splice(which % Math.max(1, this.#stale.length), 1)
      if (stale !== undefined) stale.processor.done(stale.record)
      return
    }
    const offset = [...this.#open.keys()][which % Math.max(1, this.#open.size)]
    if (offset === undefined) return
    this.#oracle.done(offset)
    this.#done(offset)
  }

  #commit(): void {
    const position = this.#partitions.handlers.positions().find(({ topic }) => topic === partition.topic)
    if (position !== undefined) this.#committed = position
  }

  #forget(): void {
    this.#stale.push(...this.#open.values())
    this.#open.clear()
    this.#taken = []
    this.#oracle.revoke()
  }

  agree(): void {
    const position = this.#partitions.handlers.positions().find(({ topic }) => topic === partition.topic)
    expect({
      taken: this.#taken,
      committable: position?.offset,
      ...(position !== undefined && { next: this.#consumer.next, isPaused: this.#consumer.isPaused }),
    }).toEqual(this.#oracle.view())
  }

  async finish(): Promise<void> {
    await this.apply({ kind: 'assign' })
    for (let rounds = 0; !this.#oracle.isFinished && rounds < 2_000; rounds++) {
      await this.apply({ kind: 'wait', ms: 60_000 })
      await this.apply({ kind: 'learn' })
      for (const offset of [...this.#open.keys()]) {
        this.#oracle.done(offset)
        this.#done(offset)
      }
      await this.apply({ kind: 'fetch', fetch: { count: 40, withGap: true } })
      this.agree()
    }
    expect(this.#oracle.isFinished).toBe(true)
  }
}

it('each record of a partition is admitted once per assignment, in order, none skipped, none before it is due', async () => {
  await fc.assert(
    fc.asyncProperty(run, async given => {
      const both = new Both(given)
      await both.apply({ kind: 'assign' })
      both.agree()
      for (const each of given.commands) {
        await both.apply(each)
        both.agree()
      }
      await both.finish()
    }),
  )
})
