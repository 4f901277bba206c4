import { type Entry, figureOf, type Value } from './entries.ts'
import { type Bar, barPlot, linePlot, type Point } from './svg.ts'

/** The plots beside the page of results, by their file's name. */
export const plotFiles = (entries: readonly Entry[]): ReadonlyMap<string, string> =>
  new Map([
    ['throughput.svg', throughput(entries)],
    ['latency.svg', latency(entries)],
    ['growth.svg', growth(entries)],
  ])

/** In the order in which they are shown. */
const transports: readonly string[] = ['undici', 'got']
const legend = {
  hookline: 'Hookline, everything on: Avro, signature, order, retries, metrics',
  beside: 'the bare kafkajs loop, in the same run',
  elsewhere: 'other programs, in turn with Hookline; they forward the value as it is',
}

function throughput(entries: readonly Entry[]): string {
  const groups = [0, 20, 200].map(delayMs => {
    const own = transports.flatMap(transport => {
      const variant = `hookline ${transport}, ${delayMs} ms`
      return pairOf(`hookline ${transport}`, figureOf(entries, { row: 'delivery', variant, what: 'deliveries' }))
    })
    const others = othersIn(entries, { row: 'peers', of: `${delayMs} ms`, what: 'deliveries' })
    return { title: `answers after ${delayMs} ms`, bars: [...own, ...others] }
  })
  return barPlot({ title: 'Deliveries a CPU second of the forwarder', groups, legend })
}

function latency(entries: readonly Entry[]): string {
  const live = { row: 'live', of: '1000/s, 20 ms' }
  const groups = (['p50', 'p99'] as const).map(what => {
    const own = transports.flatMap(transport => {
      const variant = `hookline ${transport}, ${live.of}`
      return pairOf(`hookline ${transport}`, figureOf(entries, { row: live.row, variant, what }))
    })
    // The loop is the same for all.
    const once = own.filter(({ label }, index) => own.findIndex(bar => bar.label === label) === index)
    const others = othersIn(entries, { ...live, what })
    return { title: what, bars: [...once, ...others] }
  })
  return barPlot({ title: 'Append to answer in ms, 1,000 events a second, answers after 20 ms', groups, legend })
}

/** The other programs of a row, of which each variant is a name and the case. */
function othersIn(
  entries: readonly Entry[],
  { row, of, what }: { readonly row: string; readonly of: string; readonly what: string },
): readonly Bar[] {
  return entries
    .filter(entry => entry.row === row && entry.variant.endsWith(`, ${of}`))
    .filter(({ variant }) => !/^(hookline|bare) /.test(variant))
    .flatMap(({ variant, values }) => {
      const value = values.find(each => each.what === what)?.measured
      const label = variant.slice(0, -`, ${of}`.length)
      return value === undefined || value === null ? [] : [{ label, value, of: 'elsewhere' as const }]
    })
}

function pairOf(label: string, figure: Value | undefined): readonly Bar[] {
  if (figure === undefined || figure.measured === null) return []
  const { reference } = figure
  return [
    { label, value: figure.measured, of: 'hookline' },
    ...(reference === undefined ? [] : [{ label: reference.name, value: reference.measured, of: 'beside' as const }]),
  ]
}

const panels = [
  { row: 'destinations', title: 'destinations' },
  { row: 'backlog', title: 'records of backlog' },
  { row: 'partitions', title: 'partitions of one process' },
  { row: 'processes', title: 'processes' },
]

function growth(entries: readonly Entry[]): string {
  return linePlot({
    title: 'CPU a delivery, to that with the fewest',
    panels: panels.map(({ row, title }) => ({ title, points: pointsOf(entries.filter(entry => entry.row === row)) })),
    limit: { value: 1.1, label: 'the bar: 10 % more' },
  })
}

/** The smallest is the first; each is as many times as dear as its ratio says, or its cost when no ratio was published. */
function pointsOf(entries: readonly Entry[]): readonly Point[] {
  const costs = entries.map(({ variant, values }) => {
    const ratio = values.find(({ what }) => what.startsWith('of that with'))?.measured
    const cost = values.find(({ what }) => what === 'CPU a delivery')?.measured
    return { label: sizeIn(variant), ratio, cost }
  })
  const smallest = costs[0]?.cost
  return costs.flatMap(({ label, ratio, cost }) => {
    const value = ratio ?? (cost && smallest ? cost / smallest : undefined)
    return value === undefined ? [] : [{ label, value }]
  })
}

/** `hookline undici, backlog of 1,000,000` → `10⁶`; below 10,000 as it stands. */
function sizeIn(variant: string): string {
  const digits = /([\d,]+)\D*$/.exec(variant)?.[1]?.replaceAll(',', '') ?? ''
  return digits.length > 4 ? `10${'⁰¹²³⁴⁵⁶⁷⁸⁹'[digits.length - 1]}` : digits
}
