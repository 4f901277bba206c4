import { describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import { systemClock } from '../../../../src/adapters/clock/clock.ts'
import { bodyOf } from '../../../../src/core/delivery/payload.ts'
import { epochMs } from '../../../../src/core/units.ts'
import { eventsTopic, MemoryRegistry } from '../../../support/kafka/memory-registry.ts'
import { drainingOf } from '../backlog-drain.ts'
import { createEvents, eventBytes, idOf, numberIn } from '../events.ts'
import { passagesOf, quantile } from '../live.ts'
import { coresOf } from '../pinning.ts'
import { Ledger, type Script } from '../receiver/ledger.ts'
import { growthOf } from '../rows/memory.ts'
import { costsOf } from '../rows/retries.ts'
import { median, percentile, slope } from '../statistics.ts'

describe('bench statistics', () => {
  it.each([
    ['one', [7], 7],
    ['an odd number of unsorted values', [9, 1, 5], 5],
    ['an even number of values', [4, 1, 2, 9], 3],
  ])('median of %s', (_, values, expected) => expect(median(values)).toBe(expected))

  it.each([
    [0.5, 50],
    [0.99, 99],
    [0.999, 100],
    [1, 100],
    [0, 1],
  ])('%p of 1 to 100 are not above', (share, expected) => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(percentile(values, share)).toBe(expected)
  })

  it('refuses the median and the percentile of nothing', () => {
    expect(() => median([])).toThrow(RangeError)
    expect(() => percentile([], 0.5)).toThrow(RangeError)
  })

  it('computes the slope of a line, of noise around it, and of a single point', () => {
    expect(slope([0, 1, 2, 3].map(x => ({ x, y: 2 * x + 5 })))).toBeCloseTo(2)
    expect(slope([0, 1, 2, 3].map(x => ({ x, y: 2 * x + (x % 3 === 0 ? 1 : -1) })))).toBeCloseTo(2)
    expect(slope([1, 1].map(x => ({ x, y: x })))).toBe(0)
  })
})

describe('bench events', () => {
  it('have the same size and carry their number in Avro as in JSON', async () => {
    const codec = await createEventCodec({ registry: new MemoryRegistry(), eventsTopic, clock: systemClock })
    const record = createEvents(codec, ['s0', 's1'])
    for (const number of [0, 1, 99_999, 12_345_678]) {
      const value = record(number).value as Buffer
      const decoded = codec.decode(value, epochMs(0))
      if (decoded.kind !== 'event') throw new Error(decoded.kind)
      const { message, sourceId } = decoded.event
      expect(value).toHaveLength(eventBytes)
      expect(message.messageId).toBe(idOf(number))
      expect(sourceId).toBe(`s${number % 2}`)
      expect(numberIn(value)).toBe(number)
      expect(numberIn(Buffer.from(bodyOf(message, { anonymousId: 'fallback' })))).toBe(number)
    }
  })

  it.each(['', 'nothing here', 'bench-12', 'bench-12345678x'])('finds no event number in %j', text =>
    expect(numberIn(Buffer.from(text))).toBeUndefined(),
  )
})

describe('the ledger of the bench receiver', () => {
  const script: Script = {
    first: 10,
    count: 4,
    delayMs: 0,
    passesOneIn: 0,
    isDead: false,
    marks: [1, 3],
    keepsLog: true,
  }
  const deliver = (ledger: Ledger, ...numbers: (number | undefined)[]) =>
    numbers.map((number, index) => (ledger.arrived(number) ? ledger.succeeded(number, index) : 'refused'))

  it('counts each event once, reports marks, and separates duplicates from unknown requests', () => {
    const ledger = new Ledger(script)
    expect(deliver(ledger, 10, 10, 9, 14, undefined, 12, 11)).toEqual([
      1,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      3,
    ])
    expect(ledger.tally()).toEqual({
      delivered: 3,
      duplicates: 1,
      foreign: 3,
      refused: 0,
      log: { numbers: [10, 10, 12, 11], times: [0, 1, 5, 6] },
    })
  })

  it('refuses all but one in n of the second half, and only the first time', () => {
    const ledger = new Ledger({ ...script, passesOneIn: 2 })
    expect(deliver(ledger, 10, 11, 12, 13, 13)).toEqual([1, undefined, 3, 'refused', undefined])
    expect(ledger.tally()).toMatchObject({ delivered: 4, refused: 1, duplicates: 0 })
  })
})

describe('the latency of a live load', () => {
  const appended = new Map([
    [5, 1_000],
    [6, 1_001],
    [7, 1_002],
  ])

  it('runs from the append to the first success, and is infinite for an event that never came', () => {
    const passages = passagesOf(appended, { numbers: [6, 5, 6], times: [1_021.5, 1_030, 1_099] }, 5, 3)
    expect(passages).toEqual([
      { number: 5, ms: 30 },
      { number: 6, ms: 20.5 },
      { number: 7, ms: undefined },
    ])
    expect(quantile(passages, 0.5)).toBe(30)
    expect(quantile(passages, 0.99)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('memory over a run', () => {
  const run = (resident: (x: number) => number) => Array.from({ length: 101 }, (_, x) => ({ x, y: resident(x) }))

  it('takes growth in the first quarter for flat', () => {
    expect(
      growthOf(
        run(x => Math.min(100, 50 + 2 * x)),
        100,
      ),
    ).toEqual({ growth: 1, perMillion: 0 })
  })

  it('shows continued growth in the ratio and in the slope', () => {
    const { growth, perMillion } = growthOf(
      run(x => 100 + x),
      100,
    )
    expect(growth).toBeGreaterThan(1.3)
    expect(perMillion).toBeCloseTo(1e6)
  })

  it('has no result with too few samples', () => expect(growthOf([{ x: 90, y: 1 }], 100).growth).toBeNaN())
})

describe('the cost of a scheduled retry', () => {
  it('is the extra cost of a run with failures, less one attempt each', () => {
    const plain = { perCpuSecond: 10_000, cpuToTheEnd: 7 }
    expect(costsOf(plain, { cpuToTheEnd: 7 + 0.15, refused: 1_000 })).toEqual({
      attempt: 100,
      parkAndRelease: expect.closeTo(50),
    })
  })

  it('has no result when the cost comes out negative', () => {
    const plain = { perCpuSecond: 10_000, cpuToTheEnd: 7 }
    expect(costsOf(plain, { cpuToTheEnd: 7, refused: 1_000 }).parkAndRelease).toBeNaN()
  })
})

it.each([
  ['0,1', [0, 1]],
  [' 0-3\n', [0, 1, 2, 3]],
  ['2,4-6', [2, 4, 5, 6]],
  ['7', [7]],
])('cores of %j', (list, cores) => expect(coresOf(list)).toEqual(cores))

describe('the backlog of an endpoint that answers again', () => {
  const isFor = (number: number): boolean => number % 2 === 1
  const of = (numbers: readonly number[], times: readonly number[]) =>
    drainingOf({ numbers, times }, { isFor, isMissed: number => isFor(number) && number < 10 })

  it('drains from its first to its last success, and counts new events of that endpoint only', () =>
    expect(of([11, 1, 2, 3, 13, 5, 7, 15], [900, 1_000, 1_001, 1_500, 1_999, 2_000, 3_000, 3_001])).toEqual({
      ...{ from: 1_000, to: 3_000, mostInASecond: 3, perSecond: 2.5 },
    }))

  it('can drain within one second', () =>
    expect(of([1, 3], [5, 5])).toMatchObject({ from: 5, to: 5, mostInASecond: 2 }))

  it('is refused when none of it came', () => expect(() => of([2, 11], [1, 2])).toThrow(RangeError))
})
