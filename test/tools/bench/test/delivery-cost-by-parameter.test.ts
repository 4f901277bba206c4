import { describe, expect, it } from '@jest/globals'
import { cheapestOf, costByStep, costRatio, type Round, roundsOf, type Step } from '../delivery-cost-by-parameter.ts'
import type { Drain } from '../drain-topic.ts'

/** A run with `micros` of CPU per delivery. */
const costing = (micros: number, more: Partial<Drain> = {}): Drain => ({
  ...{
    perCpuSecond: 1e6 / micros,
    cpuShares: [1],
    perSecond: 100,
    cpuToTheEnd: 1,
    peakMb: 200,
    firstAfter: 1,
    lost: 0,
  },
  ...{
    duplicates: 0,
    foreign: 0,
    newConnections: 0,
    fullHandshakes: 0,
    refused: 0,
    memory: [],
    sample: undefined,
    window: { from: 0, to: 0 },
    profile: undefined,
  },
  ...more,
})
const step = (name: string, rounds?: number, run = async () => costing(50)): Step => ({
  ...{ name, run },
  ...(rounds !== undefined && { rounds }),
})
const round = (costs: Readonly<Record<string, number>>): Round =>
  new Map(Object.entries(costs).map(([name, micros]) => [name, costing(micros)]))

describe('the cost of growth', () => {
  it.each<[string, readonly Round[], number]>([
    [
      'the ratio within each round, then the median',
      [
        { few: 50, many: 60 },
        { few: 100, many: 110 },
        { few: 40, many: 60 },
      ].map(round),
      1.2,
    ],
    ['only rounds with both steps', [round({ few: 50, many: 60 }), round({ few: 10 })], 1.2],
  ])('%s', (_, rounds, expected) => expect(costRatio(step('many'), step('few'), rounds)).toBeCloseTo(expected))

  it('has no ratio when it was never measured in the same round', () =>
    expect(() => costRatio(step('many'), step('few'), [round({ few: 1 }), round({ many: 1 })])).toThrow(RangeError))

  it('judges cost against the smallest step and losses of every step', () => {
    const rounds = [
      new Map([
        ['few', costing(50)],
        ['many', costing(56, { lost: 2 })],
      ]),
    ]
    const { findings } = costByStep(
      'hookline',
      [step('few'), step('many')],
      rounds,
      'CPU per delivery, relative to 1 destination',
    )
    expect(
      findings.map(({ subject, what, measured, must }) => [subject, what, Number(measured.toFixed(2)), must]),
    ).toEqual([
      ['hookline, few', 'CPU per delivery', 50, undefined],
      ['hookline, few', 'peak memory', 200, undefined],
      ['hookline, few', 'lost', 0, { atMost: 0 }],
      ['hookline, few', 'duplicated', 0, { atMost: 0 }],
      ['hookline, many', 'CPU per delivery', 56, undefined],
      ['hookline, many', 'CPU per delivery, relative to 1 destination', 1.12, { atMost: 1.1 }],
      ['hookline, many', 'peak memory', 200, undefined],
      ['hookline, many', 'lost', 2, { atMost: 0 }],
      ['hookline, many', 'duplicated', 0, { atMost: 0 }],
    ])
  })
})

it('runs the steps in turn, and a long one only in the first rounds', async () => {
  const ran: string[] = []
  const noted = (name: string, rounds?: number): Step =>
    step(name, rounds, async () => {
      ran.push(name)
      return costing(50)
    })
  const rounds = await roundsOf({ runs: 3, say: () => {} }, [noted('small'), noted('large', 1)])
  expect(ran).toEqual(['small', 'large', 'small', 'small'])
  expect(rounds.map(each => [...each.keys()])).toEqual([['small', 'large'], ['small'], ['small']])
})

it.each([
  [['got', 'undici'], 'undici'],
  [['got'], 'got'],
])('of %j growth is measured with %s', (transports, expected) => expect(cheapestOf({ transports })).toBe(expected))
