import { table } from '../../../deploy/reference/markdown.ts'
import { shown } from '../report.ts'
import { type Entry, figureOf } from './entries.ts'
import { peers } from './peers.ts'

const delays = [0, 20, 200]

/** Hookline as published, above what other programs did once. */
export function peersText(entries: readonly Entry[], transports: readonly string[]): string {
  return table(
    [
      ...['', ...delays.map(delay => `deliveries / CPU s, ${delay} ms`), 'peak MB', 'p99 ms'],
      ...['in time, 1 of 10 hangs', 's to the next after SIGKILL', 's of traffic twice'],
    ],
    [...transports.map(transport => ownLine(entries, transport)), ...peerLines()],
  )
}

function ownLine(entries: readonly Entry[], transport: string): readonly string[] {
  const name = `hookline ${transport}`
  const measured = (row: string, variant: string, what: string): number | null | undefined =>
    figureOf(entries, { row, variant: `${name}, ${variant}`, what })?.measured
  const memory = delays.flatMap(delay => measured('delivery', `${delay} ms`, 'peak memory') ?? [])
  return [
    `**${name}**`,
    ...delays.map(delay => cell(measured('delivery', `${delay} ms`, 'deliveries'))),
    memory.length > 0 ? range(Math.min(...memory), Math.max(...memory)) : '–',
    cell(measured('live', '1000/s, 20 ms', 'p99')),
    cell(measured('isolation', '1 of 10 dead', 'healthy events in time'), percent),
    cell(measured('crash', 'killed at 1000/s', 'next delivery after')),
    cell(measured('crash', 'killed at 1000/s', 'delivered twice')),
  ]
}

const peerLines = (): readonly (readonly string[])[] =>
  peers.map(({ name, perCpuSecond, peakMb, p99, inTime, afterKill }) => [
    name,
    ...delays.map(delay => cell(perCpuSecond[delay])),
    range(...peakMb),
    cell(p99),
    cell(inTime, percent),
    cell(afterKill?.silence),
    cell(afterKill?.twice),
  ])

const cell = (figure: number | null | undefined, as: (figure: number) => string = shown): string =>
  figure === undefined || figure === null ? '–' : as(figure)

/** Rounded down: 100 % is all. */
const percent = (share: number): string => `${Math.floor(share * 10_000) / 100} %`

const range = (least: number, most: number): string =>
  least === most ? shown(least) : `${shown(least)}–${shown(most)}`
