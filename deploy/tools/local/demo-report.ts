import { destinations, messageCount, sentTo } from './demo-configuration.ts'
import { type Way, ways } from './demo-messages.ts'

/** The measured figures of one destination. */
export interface Seen {
  readonly delivered: number
  readonly retried: number
  /** Number of webhook requests that Hookline made, including failed connections. */
  readonly calls: number
  readonly deadLettered: number
  /** The distinct reasons of the destination's dead letters. */
  readonly reasons: readonly string[]
  /** Number of requests that the destination's endpoints received. */
  readonly requests: number
  readonly badSignatures: number
  /** Number of distinct messages with a successful response. */
  readonly messages: number
}

/** The table of the demo, and whether all its figures are as expected. */
export function report(
  seen: ReadonlyMap<string, Seen>,
  entered: Readonly<Record<Way, number>>,
): {
  readonly lines: readonly string[]
  readonly allRight: boolean
} {
  const header = [
    'destination',
    'sent',
    'delivered',
    'retries',
    'dead-lettered',
    'reason',
    'requests',
    'signatures',
    '',
  ]
  const wrong: string[] = []
  const came = ways.reduce((sum, way) => sum + entered[way], 0)
  if (came !== messageCount) wrong.push(`received messages: ${came}, expected ${messageCount}`)
  const rows = destinations.map(destination => {
    const { id, expect, shows } = destination
    const sent = sentTo(destination)
    const got = seen.get(id)
    const check = (what: string, value: unknown, expected: unknown): void => {
      if (String(value) !== String(expected)) wrong.push(`${id}: ${what}: ${value}, expected ${expected}`)
    }
    const isDelivered = expect.becomes === 'delivered'
    check('delivered', got?.delivered, isDelivered ? sent : 0)
    check('messages received', got?.messages, isDelivered ? sent : 0)
    check('dead-lettered', got?.deadLettered, isDelivered ? 0 : sent)
    check('reason', got?.reasons.join(), expect.reason)
    if (expect.retriesOfEach !== undefined) check('retries', got?.retried, expect.retriesOfEach * sent)
    check('messages without an attempt', Math.max(0, sent - (got?.calls ?? 0)), 0)
    check('bad signatures', got?.badSignatures, 0)
    if (!isDelivered) check('requests that reached the endpoint', got?.requests, 0)
    const signatures =
      got === undefined || got.requests === 0 ? '-' : got.badSignatures === 0 ? 'all valid' : `${got.badSignatures} BAD`
    const cells = [got?.delivered, got?.retried, got?.deadLettered, got?.reasons.join() || '-', got?.requests]
    return [id, sent, ...cells, signatures, shows].map(String)
  })
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        /^\d+$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  const { collector, kafka, deletion } = entered
  const wayIn = `${came} messages received: ${collector} by the collector, ${kafka} directly by Kafka, ${deletion} from a deletion request.`
  const verdict = wrong.length === 0 ? [] : ['', ...wrong.map(each => `WRONG  ${each}`)]
  return {
    lines: [wayIn, '', line(header), line(widths.map(width => '-'.repeat(width))), ...rows.map(line), ...verdict],
    allRight: wrong.length === 0,
  }
}
