import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { LedgerCounts, type LedgerResult, ledgerResults } from '../../../../src/core/ledger/ledger-counts.ts'
import {
  type LedgerRecord,
  ledgerHeaders,
  parseLedgerRecord,
  readChain,
} from '../../../../src/core/ledger/ledger-record-and-chain-reading.ts'
import type { PendingRecord } from '../../../../src/core/ledger/ledger-record-chain.ts'
import { parseCommit } from '../../../../src/core/progress/commit-metadata.ts'
import { OffsetTracker } from '../../../../src/core/progress/offset-tracker.ts'

const kinds = ['receive', 'settle', 'commit', 'start', 'stored', 'failed', 'unacknowledged', 'crash', 'zombie'] as const
type Kind = (typeof kinds)[number]
interface Step {
  readonly kind: Kind
  readonly pick: number
}
const weights: Readonly<Record<Kind, number>> = {
  ...{ receive: 4, settle: 12, commit: 5, start: 3, stored: 3, failed: 1, unacknowledged: 1, crash: 1, zombie: 1 },
}
const steps = fc.array(
  fc.oneof(
    ...kinds.map(kind => ({
      weight: weights[kind],
      arbitrary: fc.record({ kind: fc.constant(kind), pick: fc.nat() }),
    })),
  ),
  { maxLength: 120, size: 'max' },
)

type Results = ReadonlyMap<string, LedgerResult>
const flat = (counts: LedgerCounts): unknown => [...counts.cells()].map(cell => JSON.stringify(cell)).sort()

/** A partition whose owners are killed, its ledger topic, and what really happened. */
class Model {
  readonly #destinations: readonly string[]
  readonly #gap: number
  readonly #create: (offset: number, metadata: string) => OffsetTracker
  readonly #ledger = new Map<number, LedgerRecord>()
  #ledgerEnd = 0
  committed = { offset: 0, metadata: '' }
  #tracker: OffsetTracker
  #appended: { readonly batch: PendingRecord; readonly offset: number } | undefined
  #zombie: OffsetTracker | undefined
  /** The results that the present owner knows, by offset and destination. */
  #results = new Map<number, Map<string, LedgerResult>>()
  #open: number[] = []

  constructor(destinations: readonly string[], gap: number, maxRecordBytes: number) {
    this.#destinations = destinations
    this.#gap = gap
    this.#create = (offset, metadata) => new OffsetTracker(offset, metadata, 0, maxRecordBytes)
    this.#tracker = this.#create(0, '')
  }

  run({ kind, pick }: Step): void {
    const tracker = this.#tracker
    switch (kind) {
      case 'receive':
        for (let count = pick % 9; count >= 0; count--) this.#receive()
        return
      case 'settle':
        for (let count = pick % 7; count >= 0; count--) this.#settle(Math.floor(pick / 7) + count)
        return
      case 'commit': {
        const { position } = tracker
        expect(position.offset).toBeGreaterThanOrEqual(this.committed.offset)
        this.committed = position
        return
      }
      case 'start': {
        const batch = tracker.startLedgerRecord()
        if (batch === undefined) return
        this.#appended = { batch, offset: this.#append(batch) }
        return
      }
      case 'stored':
        if (this.#appended !== undefined) tracker.ledgerStored(this.#appended.batch, this.#appended.offset)
        this.#appended = undefined
        return
      // `unacknowledged`: the process sees a failed append, although the topic has the record.
      case 'failed':
      case 'unacknowledged':
        if (this.#appended !== undefined) tracker.ledgerFailed(this.#appended.batch)
        this.#appended = undefined
        return
      case 'crash':
        this.#zombie = tracker
        return this.#assign()
      case 'zombie': {
        const batch = this.#zombie?.startLedgerRecord()
        if (batch === undefined) return
        this.#zombie?.ledgerStored(batch, this.#append(batch))
      }
    }
  }

  #append(batch: PendingRecord): number {
    this.#ledgerEnd += 2
    const parsed = parseLedgerRecord({ value: batch.value, headers: ledgerHeaders(batch) })
    if (parsed === undefined) throw new Error('malformed record')
    this.#ledger.set(this.#ledgerEnd, parsed)
    return this.#ledgerEnd
  }

  #receive(): void {
    const { received } = this.#tracker
    // Every fifth record is followed by a gap.
    const period = this.#gap + 5
    const offset = received % period < 5 ? received : Math.ceil(received / period) * period
    if (!this.#tracker.add(offset)) return
    this.#open.push(offset)
    const known = new Map(this.#tracker.resultsOf(offset))
    expect(known).toEqual(this.#results.get(offset) ?? new Map())
    this.#results.set(offset, known)
  }

  #settle(pick: number): void {
    const offset = this.#open[pick % Math.max(1, this.#open.length)]
    if (offset === undefined) return
    const results = this.#results.get(offset) as Map<string, LedgerResult>
    const left = this.#routeOf(offset).filter(destination => !results.has(destination))
    const destination = left[0]
    const result = ledgerResults[pick % ledgerResults.length] as LedgerResult
    if (destination !== undefined) results.set(destination, result)
    if (left.length > 1) return this.#tracker.partlyDone(offset, destination as string, result)
    this.#open.splice(this.#open.indexOf(offset), 1)
    const entries = [...results].flatMap(([destination, field]) => [
      { destination, field: 'admitted' as const },
      { destination, field },
    ])
    this.#tracker.done(offset, { hour: offset % 3, entries })
  }

  #routeOf(offset: number): readonly string[] {
    return this.#destinations.filter((_, index) => (offset + index) % 3 !== 0)
  }

  #assign(): void {
    const { offset, metadata } = this.committed
    const { done, partlyDone, ledger } = parseCommit(offset, metadata)
    const known: [number, Map<string, LedgerResult>][] = []
    for (const [at, results] of this.#results) {
      if (at < offset || done.has(at)) known.push([at, results])
      const kept = partlyDone.get(at)
      if (kept !== undefined && ledger !== undefined)
        known.push([at, new Map([...results].filter(([id]) => kept.includes(id)))])
    }
    this.#results = new Map(known)
    this.#open = []
    this.#appended = undefined
    this.#tracker = this.#create(offset, metadata)
  }

  /**
   * Discards counts as the dispatcher does when it cannot write ledger records. A commit must then
   * be possible.
   */
  discard(): void {
    const tracker = this.#tracker
    tracker.discardLedger(9)
    const { offset, metadata } = tracker.position
    expect([tracker.hasRoomForLedger, offset]).toEqual([true, tracker.committable])
    expect(metadata.length).toBeLessThanOrEqual(4_096)
    expect(parseCommit(offset, metadata).ledger).toMatchObject({ exactSince: 9 })
  }

  /**
   * The counts that a reader adds up must equal the results of all records that the commit marks as
   * done.
   */
  async check(): Promise<void> {
    const { offset, metadata } = this.committed
    const { done, ledger } = parseCommit(offset, metadata)
    const truth = new LedgerCounts()
    for (const [at, results] of this.#results) if (at < offset || done.has(at)) addTo(truth, at, results)
    if (ledger === undefined) return expect(flat(truth)).toEqual([])
    const counts = new LedgerCounts()
    counts.merge(ledger.counts)
    const recordAt = async (offset: number) => this.#ledger.get(offset)
    expect(await readChain(ledger, { since: 0, recordAt, onCounts: found => counts.merge(found) })).toBe(true)
    expect(flat(counts)).toEqual(flat(truth))
    expect(metadata.length).toBeLessThanOrEqual(4_096)
  }
}

function addTo(counts: LedgerCounts, offset: number, results: Results): void {
  for (const [destination, result] of results) {
    counts.add(destination, offset % 3, 'admitted')
    counts.add(destination, offset % 3, result)
  }
}

const destinations = (count: number, length: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'))

it.each<readonly [string, readonly string[], number, number?]>([
  ['few destinations', destinations(3, 4), 0],
  ['results without room in the commit', destinations(8, 400), 0],
  ['results without room in one record', destinations(12, 400), 0, 2_000],
  ['records beyond the bitmap', destinations(2, 4), 15_000],
  ['partly done records without room', destinations(30, 120), 3_000],
])(
  'counts each result exactly once, whatever is killed: %s',
  async (_, ids, gap, maxRecordBytes = 1_000_000) => {
    await fc.assert(
      fc.asyncProperty(steps, async run => {
        const model = new Model(ids, gap, maxRecordBytes)
        for (const each of run) {
          model.run(each)
          await model.check()
        }
        model.discard()
      }),
      { numRuns: 25 },
    )
  },
  60_000,
)
