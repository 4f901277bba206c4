import { describe, expect, it } from '@jest/globals'
import { commandHelp, loadOptions, readLoad } from '../../../../deploy/tools/capacity/arguments.ts'
import { type Coefficients, coefficientsFrom, deliveryMicros } from '../../../../deploy/tools/capacity/coefficients.ts'
import { defaultAssumptions, type Load, type Plan, planFor } from '../../../../deploy/tools/capacity/model.ts'
import { capacityBlocks } from '../../../../deploy/tools/capacity/page-blocks.ts'
import type { FigureName } from '../../../tools/bench/figure-names.ts'
import type { Entry, Value } from '../../../tools/bench/publication/published-entries.ts'

const coefficients: Coefficients = {
  delivery: [
    { answerMs: 0, micros: 50, isDerived: false },
    { answerMs: 20, micros: 60, isDerived: false },
    { answerMs: 200, micros: 96, isDerived: false },
  ],
  hosts: [
    { hosts: 1, micros: 0, mb: 0 },
    { hosts: 100, micros: 20, mb: 9.9 },
    { hosts: 10_000, micros: 60, mb: 504.9 },
  ],
  memory: { base: 150, eachCall: 0.05 },
  ...{
    retryWriteMicros: 40,
    eventBytes: 1_000,
    retryRecordBytes: 1_500,
    collect: 50,
    collectorMb: 200,
    memberBytes: 100,
    restore: 5,
  },
}

describe('CPU per delivery', () => {
  it.each([
    [0, 50],
    [10, 55],
    [20, 60],
    [110, 78],
    [200, 96],
    [5_000, 96],
  ])('answers after %p ms: %p µs', (answerMs, micros) =>
    expect(deliveryMicros(coefficients, { answerMs, hosts: 1 })).toBeCloseTo(micros),
  )

  it.each([
    [10, 60],
    [100, 70],
    [1_000, 90],
    [50_000, 110],
  ])('%p hosts: %p µs', (hosts, micros) =>
    expect(deliveryMicros(coefficients, { answerMs: 0, hosts })).toBeCloseTo(micros),
  )
})

describe('the plan', () => {
  const load: Load = {
    ...{ eventsPerSecond: 10_000, destinations: 2, answerMs: 20, hosts: 1, members: 0 },
    outage: { share: 0, hours: 0 },
  }
  const of = (change: Partial<Load>, choices = defaultAssumptions): Plan =>
    planFor({ ...load, ...change }, coefficients, choices)

  it.each<[string, unknown, unknown]>([
    ['deliveries', of({}).deliveriesPerSecond, 20_000],
    ['requests in progress, by Little’s law', of({}).calls, 400],
    [
      '1.2 cores at 60 % are two processes',
      of({}).dispatchers,
      { processes: 2, cores: 1.2, mb: 175.6, limitMb: 175.6, inFlight: 512 },
    ],
    ['twice the load', of({ eventsPerSecond: 20_000 }).dispatchers.processes, 4],
    ['a small load has two processes', of({ eventsPerSecond: 1 }).dispatchers.processes, 2],
    [
      'slow endpoints need more requests in progress first',
      of({ answerMs: 200 }).dispatchers,
      { processes: 4, cores: 1.92, mb: 354.8, limitMb: 354.8, inFlight: 4_096 },
    ],
    ['and then more processes', of({ answerMs: 5_000 }).dispatchers.processes, Math.ceil(100_000 / 2_048)],
    ['memory for 5,050 hosts', of({ hosts: 5_050 }).dispatchers.mb, 175.6 + 9.9 + 247.5],
    ['the memory limit permits a connection to each host', of({ hosts: 5_050 }).dispatchers.limitMb, 992.8704],
    ['a process keeps at most 12,000 connections', of({ hosts: 1e6 }).dispatchers.limitMb, 2_359.296],
    ['CPU for 100 hosts', of({ hosts: 100 }).dispatchers.cores, 1.6],
    ['collectors', of({}).collectors, { processes: 2, cores: 0.5, mb: 200 }],
    ['an audience without members', of({}).audiences, { processes: 0, mb: 0, restoreSeconds: 0 }],
    ['members that fit two processes', of({ members: 1e6 }).audiences, { processes: 2, mb: 50, restoreSeconds: 2.5 }],
    ['members that need more processes', of({ members: 5e7 }).audiences.processes, 5],
    ['partitions for two processes', of({}).partitions, 12],
    ['partitions for 17', of({ eventsPerSecond: 85_000 }).partitions, 36],
    ['bytes, replicated and kept', of({}).brokers, { inMb: 30, diskTb: 18.144, count: 3 }],
    ['one replica', of({}, { ...defaultAssumptions, replicas: 1 }).brokers.inMb, 10],
    ['brokers by their input', of({ eventsPerSecond: 200_000 }).brokers.count, 6],
  ])('%s', (_, got, expected) => expect(got).toEqual(close(expected)))

  it('an outage needs additional cores, bytes and processes', () => {
    const calm = of({ eventsPerSecond: 100_000 })
    const ill = of({ eventsPerSecond: 100_000, outage: { share: 0.5, hours: 1 } })
    expect(ill.outage.cores).toBeCloseTo((ill.outage.maxRetryRecordsPerSecond * 40) / 1e6)
    expect(ill.outage.inMb).toBeCloseTo((ill.outage.maxRetryRecordsPerSecond * 1_500 * 3) / 1e6)
    expect(ill.outage.amplification).toBeCloseTo(ill.outage.parked / (100_000 * 3_600))
    expect(ill.dispatchers.processes).toBe(Math.ceil((calm.dispatchers.cores + ill.outage.cores) / 0.6))
    expect(ill.brokers.count).toBeGreaterThan(calm.brokers.count)
  })
})

/** Compares numbers with a tolerance of 0.005, because sums of fractions are inexact. */
const close = (value: unknown): unknown => {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return expect.closeTo(value)
  if (Array.isArray(value)) return value.map(close)
  return Object.fromEntries(Object.entries(value as object).map(([key, each]) => [key, close(each)]))
}

describe('coefficients from published results', () => {
  const value = (what: FigureName, measured: number | null, reference?: number): Value => ({
    ...{ what, measured, verdict: '' },
    ...(reference !== undefined && { reference: { name: 'x', measured: reference, unit: '' } }),
  })
  const entry = (row: string, variant: string, ...values: readonly Value[]): Entry => ({
    ...{ row, variant, values, date: '2026-01-02', commit: 'abc', machine: 'm', load: 0, runs: 3 },
  })
  const entries: readonly Entry[] = [
    entry('delivery', 'hookline undici, responses after 0 ms', value('deliveries', 20_000), value('peak memory', 190)),
    entry(
      'delivery',
      'hookline undici, responses after 20 ms',
      value('deliveries', 16_000, 25_000),
      value('peak memory', 200),
    ),
    entry(
      'delivery',
      'hookline undici, responses after 200 ms',
      value('deliveries', 10_000),
      value('peak memory', 379.2),
    ),
    entry(
      'retries',
      'hookline undici, 2 of 3 events retried',
      value('CPU of a retry, relative to a delivery of the reference loop', 1.6),
      value('size of the record in the retry topic', 1_500, 987),
    ),
    ...[
      ['responses after 0 ms, 1 host', 12_500, 230],
      ['responses after 20 ms, 1 host', 10_000, 240],
      ['responses after 200 ms, 1 host', 8_000, 777.6],
      ['responses after 20 ms, 100 hosts', 8_000, 290],
      ['responses after 20 ms, 1,000 hosts', 6_400, 370],
      ['responses after 20 ms, 10,000 hosts', 5_000, 1_000],
    ].map(([name, speed, memory]) =>
      entry(
        'https',
        `hookline undici, ${name}`,
        value('deliveries', Number(speed)),
        value('peak memory', Number(memory)),
      ),
    ),
    entry('collector', 'hookline, messages per request: 20', value('CPU per message', 57), value('peak memory', 216)),
    entry(
      'audiences',
      'hookline, 1,000,000 members',
      value('members restored', 200_000),
      value('memory per member', 116),
    ),
  ]

  it('equal the published figures or follow from them', () =>
    expect(coefficientsFrom(entries, 'undici')).toEqual(
      close({
        delivery: [
          { answerMs: 0, micros: 80, isDerived: false },
          { answerMs: 20, micros: 100, isDerived: false },
          { answerMs: 200, micros: 125, isDerived: false },
        ],
        hosts: [
          { hosts: 1, micros: 0, mb: 0 },
          { hosts: 100, micros: 25, mb: 50 },
          { hosts: 1_000, micros: 56.25, mb: 130 },
          { hosts: 10_000, micros: 100, mb: 760 },
        ],
        memory: { base: 163.2, eachCall: 0.15 },
        ...{
          retryWriteMicros: 64,
          eventBytes: 987,
          retryRecordBytes: 1_500,
          collect: 57,
          collectorMb: 216,
          memberBytes: 116,
          restore: 5,
        },
      }),
    ))

  it('derive the figures of got that are measured only over plain HTTP', () => {
    const got = entries.map(each => ({ ...each, variant: each.variant.replace('undici', 'got') }))
    const { delivery, memory } = coefficientsFrom([...entries, ...got], 'got')
    expect(delivery).toEqual([
      { answerMs: 0, micros: expect.closeTo(100 + 50 - 62.5), isDerived: true },
      { answerMs: 20, micros: expect.closeTo(100), isDerived: false },
      { answerMs: 200, micros: expect.closeTo(100 + 100 - 62.5), isDerived: true },
    ])
    expect(memory.eachCall).toBeCloseTo((379.2 - 200) / 3_584)
  })

  it.each<[string, readonly Entry[]]>([
    ['never published', entries.filter(({ row }) => row !== 'retries')],
    [
      'without a number',
      entries.map(each =>
        each.row === 'retries'
          ? { ...each, values: [value('CPU of a retry, relative to a delivery of the reference loop', null)] }
          : each,
      ),
    ],
  ])('%s: the error and the page name it', (_, published) => {
    const name =
      'retries: hookline undici, 2 of 3 events retried: CPU of a retry, relative to a delivery of the reference loop'
    expect(() => coefficientsFrom(published, 'undici')).toThrow(name)
    expect(capacityBlocks(published).get('cases')).toContain(
      `This table cannot be computed: figures that are not published or not a number: ${name}`,
    )
  })

  it('the tables have no gaps when all figures are published', () => {
    const got = entries.map(each => ({ ...each, variant: each.variant.replace('undici', 'got') }))
    const text = [...capacityBlocks([...entries, ...got]).values()].join('\n')
    expect(text).toContain('| **dispatchers** | **2** |')
    expect(text).not.toMatch(/NaN|undefined|never| - \|/)
  })
})

describe('the command', () => {
  it('has an option for each load, with the defaults', () =>
    expect(readLoad({ events: '20000', transport: 'got', 'outage-share': '0.5', replicas: '2' })).toEqual({
      load: {
        ...{ eventsPerSecond: 20_000, destinations: 1, answerMs: 200, hosts: 1_000, members: 0 },
        outage: { share: 0.5, hours: 1 },
      },
      choices: { ...defaultAssumptions, replicas: 2 },
      transport: 'got',
    }))

  it.each([
    [{ events: 'many' }, "--events must be a number from 0 on, not 'many'"],
    [{ events: '' }, "--events must be a number from 0 on, not ''"],
    [{ answer: '6000' }, "--answer must be a number from 0 to 5000, not '6000'"],
    [{ hosts: '0' }, "--hosts must be a number from 1 on, not '0'"],
    [{ 'outage-share': '10' }, "--outage-share must be a number from 0 to 1, not '10'"],
    [{ transport: 'fetch' }, "--transport must be undici or got, not 'fetch'"],
  ])('%j is refused', (given, message) => expect(() => readLoad(given)).toThrow(new RangeError(message)))

  it('help names each option', () => {
    for (const name of Object.keys(loadOptions)) expect(commandHelp()).toContain(`--${name}`)
  })
})
