import { describe, expect, it } from '@jest/globals'
import type { Entry, Value } from '../../bench/publication/entries.ts'
import { plotFiles } from '../../bench/publication/plots.ts'
import { barPlot, linePlot } from '../../bench/publication/svg.ts'

const widths = (svg: string, fill: string): readonly number[] =>
  [...svg.matchAll(/width="([\d.]+)" height="14" fill="(#\w+)"/g)].flatMap(([, width, colour]) =>
    colour === fill ? [Number(width)] : [],
  )
const wordsIn = (svg: string): readonly string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, words = '']) => words)

describe('bars', () => {
  const svg = barPlot({
    title: 'a < b & c',
    groups: [
      {
        title: 'all',
        bars: [
          { label: 'half', value: 10_000, of: 'hookline' },
          { label: 'whole', value: 20_000, of: 'elsewhere' },
        ],
      },
    ],
    legend: { hookline: 'ours' },
  })

  it('are as long as their figures, which stand beside them', () => {
    const [half, whole] = [widths(svg, '#0b6e4f')[0] ?? 0, widths(svg, '#ccd2da')[0] ?? 0]
    expect(whole / half).toBeCloseTo(2)
    expect(wordsIn(svg)).toEqual(['a &lt; b &amp; c', 'ours', 'all', 'half', '10,000', 'whole', '20,000'])
  })
})

describe('lines', () => {
  it('go up as their figures do, from 0', () => {
    const points = [
      { label: '1', value: 1 },
      { label: '10', value: 2 },
    ]
    const svg = linePlot({ title: 't', panels: [{ title: 'p', points }], limit: { value: 1.1, label: 'bar' } })
    const [one = 0, two = 0] = [...svg.matchAll(/cy="([\d.]+)"/g)].map(([, y]) => Number(y))
    const bottom = 240
    expect((bottom - two) / (bottom - one)).toBeCloseTo(2, 1)
  })

  it('a panel without points says so', () =>
    expect(
      wordsIn(linePlot({ title: 't', panels: [{ title: 'p', points: [] }], limit: { value: 1, label: '' } })),
    ).toContain('p: not measured'))
})

describe('the plots of what is published', () => {
  const entry = (row: string, variant: string, values: readonly Partial<Value>[]): Entry => ({
    ...{ row, variant, date: '2026-01-02', commit: 'abc', machine: 'm', load: 0, runs: 3 },
    values: values as readonly Value[],
  })
  const bare = { name: 'bare undici', measured: 23_000, unit: '/ CPU s' }
  const plots = plotFiles([
    entry('delivery', 'hookline undici, 20 ms', [{ what: 'deliveries', measured: 15_123, reference: bare }]),
    entry('peers', 'redpanda-tuned, 20 ms', [{ what: 'deliveries', measured: 8_600 }]),
    entry('peers', 'bare undici, 20 ms', [{ what: 'deliveries', measured: 7_777 }]),
    entry('live', 'hookline got, 1000/s, 20 ms', [
      { what: 'p99', measured: 31.5, reference: { ...bare, measured: 44 } },
    ]),
    entry('live', 'redpanda, 1000/s, 20 ms', [{ what: 'p99', measured: 38 }]),
    entry('backlog', 'hookline undici, backlog of 10,000', [{ what: 'CPU a delivery', measured: 50 }]),
    entry('backlog', 'hookline undici, backlog of 1,000,000', [
      { what: 'CPU a delivery', measured: 52 },
      { what: 'of that with backlog of 10,000', measured: 1.07 },
    ]),
    entry('processes', 'hookline undici, 1 process', [{ what: 'CPU a delivery', measured: 50 }]),
    entry('processes', 'hookline undici, 2 processes', [{ what: 'CPU a delivery', measured: 60 }]),
  ])
  const words = (file: string): readonly string[] => wordsIn(plots.get(file) ?? '')

  it.each<[string, readonly string[]]>([
    ['throughput.svg', ['hookline undici', '15,123', 'bare undici', '23,000', 'redpanda-tuned', '8,600']],
    ['latency.svg', ['hookline got', '31.5', '44', 'redpanda', '38']],
    ['growth.svg', ['10⁴', '10⁶', '1.07', '1.2', 'destinations: not measured']],
  ])('%s', (file, expected) => expect(words(file)).toEqual(expect.arrayContaining([...expected])))

  it('shows the loop of the row peers only as the reference of its own row', () =>
    expect(words('throughput.svg')).not.toContain('7,777'))

  it('of nothing there are plots too', () =>
    expect([...plotFiles([]).values()].join('')).not.toMatch(/NaN|undefined|null/))
})
