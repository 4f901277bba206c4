import type { FigureName } from '../figure-names.ts'
import type { RowName } from '../options.ts'
import { shown } from '../report.ts'
import { variantOf } from '../variant-names.ts'
import { type Entry, figureOf } from './published-entries.ts'

/** A published value in README.md, and the sentence around it. */
interface ReadmeFigure {
  readonly row: RowName
  readonly variant: string
  readonly what: FigureName
  readonly value: (measured: number) => string
  readonly sentence: string
}

/** README.md shows at most five figures: these three, and two of `make chaos`. */
const figures: readonly ReadmeFigure[] = [
  {
    ...{ row: 'https', variant: variantOf.delivery('hookline undici', 20, '1,000 hosts'), what: 'deliveries' },
    value: measured => `${shown(measured)} deliveries per CPU second`,
    sentence: 'over HTTPS to 1,000 hosts that respond after 20 ms (one process, HTTP client undici)',
  },
  {
    ...{ row: 'live', variant: variantOf.live('hookline undici', 1_000, 20), what: 'p99' },
    value: measured => `${shown(measured)} ms`,
    sentence:
      'p99 latency between the append of an event to Kafka and the response of the endpoint, at 1,000 events per second and endpoints that respond after 20 ms',
  },
  {
    ...{
      row: 'isolation',
      variant: variantOf.isolation('hookline undici', 25, 50),
      what: 'share of the other events delivered within 1 s',
    },
    value: measured => `${shown(measured * 100)} %`,
    sentence: 'of the events for healthy endpoints delivered within one second while 25 of 50 endpoints hang',
  },
]

/** Each figure links to its table on the performance page. */
export const readmeText = (entries: readonly Entry[]): string =>
  figures.map(figure => `- ${lineOf(figure, entries)}`).join('\n')

function lineOf({ sentence, value, ...place }: ReadmeFigure, entries: readonly Entry[]): string {
  const measured = figureOf(entries, place)?.measured ?? undefined
  if (measured === undefined) return `not measured yet: ${sentence}`
  const found = entries.find(({ row, variant }) => row === place.row && variant === place.variant)
  return `**${value(measured)}** ${sentence} ([performance](docs/performance/README.md#${place.row})${originOf(found)})`
}

/** Date, commit and machine of a run, without the text after the machine's first semicolon. */
const originOf = (entry: Entry | undefined): string =>
  entry === undefined ? '' : `, ${entry.date}, commit ${entry.commit}, ${entry.machine.replace(/;.*/, '')}`
