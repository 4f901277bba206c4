import type { FigureName } from '../../../test/tools/bench/figure-names.ts'
import type { RowName } from '../../../test/tools/bench/options.ts'
import { type Entry, figureOf } from '../../../test/tools/bench/publication/published-entries.ts'
import { variantOf } from '../../../test/tools/bench/variant-names.ts'

/** Costs that `make bench` measured and published. */
export interface Coefficients {
  /** CPU time of a delivery in microseconds, in ascending order of response times. */
  readonly delivery: readonly { readonly answerMs: number; readonly micros: number }[]
  /**
   * What HTTPS costs in addition to plain HTTP to one host: CPU time of a delivery in microseconds,
   * and memory of a dispatcher in MB. In ascending order of the number of hosts.
   */
  readonly https: readonly { readonly hosts: number; readonly micros: number; readonly mb: number }[]
  /** Memory of a dispatcher in MB: without requests, and for each permitted concurrent request. */
  readonly memory: { readonly base: number; readonly eachCall: number }
  /** CPU time in microseconds to write a retry record and read it again. */
  readonly retryWriteMicros: number
  /** Bytes of a record (key, value and headers). */
  readonly eventBytes: number
  readonly retryRecordBytes: number
  /**
   * The collector's CPU time per message in microseconds (20 messages per request), and its memory.
   */
  readonly collect: number
  readonly collectorMb: number
  /**
   * A membership in the audiences service: its memory in bytes, and the microseconds to restore it.
   */
  readonly memberBytes: number
  readonly restore: number
}

type Place = Parameters<typeof figureOf>[1]

/**
 * Reads the costs from the published results. `transport` is the dispatchers' HTTP client.
 * @throws Error naming each figure that is missing or not a number
 */
export function coefficientsFrom(entries: readonly Entry[], transport: string): Coefficients {
  const missing: string[] = []
  const from = (place: Place, of: (value: NonNullable<ReturnType<typeof figureOf>>) => number | null | undefined) => {
    const value = figureOf(entries, place)
    const figure = value && of(value)
    if (figure === undefined || figure === null) missing.push(`${place.row}: ${place.variant}: ${place.what}`)
    return figure ?? Number.NaN
  }
  const measured = (row: RowName, variant: string, what: FigureName): number =>
    from({ row, variant, what }, value => value.measured)
  const beside = (row: RowName, variant: string, what: FigureName): number =>
    from({ row, variant, what }, value => value.reference?.measured)
  const delivered = (answerMs: number, what: FigureName): number =>
    measured('delivery', variantOf.delivery(`hookline ${transport}`, answerMs), what)

  const delivery = [0, 20, 200].map(answerMs => ({ answerMs, micros: 1e6 / delivered(answerMs, 'deliveries') }))
  const [few, many] = [delivered(20, 'peak memory'), delivered(200, 'peak memory')]
  const eachCall = (many - few) / (callsAt200ms - callsAt20ms)
  const https = (measuredHosts[transport] ?? []).map(hosts => {
    const variant = variantOf.https(`hookline ${transport}`, 20, hosts)
    return {
      hosts,
      micros: 1e6 / measured('https', variant, 'deliveries') - 1e6 / delivered(20, 'deliveries'),
      mb: measured('https', variant, 'peak memory') - few,
    }
  })
  // The bench subtracts the CPU time of attempts from that of retries. With undici, attempts cost
  // least, so the result is most exact.
  const [cheapest, retried] = [variantOf.delivery('hookline undici', 20), variantOf.retries('hookline undici')]
  const ofReference = measured('retries', retried, 'CPU of a retry, relative to a delivery of the reference loop')
  const [collected, restored] = [variantOf.collector('hookline', 20), variantOf.audiences(1_000_000)]
  const coefficients: Coefficients = {
    delivery,
    https,
    memory: { base: few - eachCall * callsAt20ms, eachCall },
    // `ofReference` is relative to the CPU time of the bench's reference loop (a minimal program).
    // The row `delivery` has this CPU time as deliveries per second of CPU time.
    retryWriteMicros: (ofReference * 1e6) / beside('delivery', cheapest, 'deliveries'),
    eventBytes: beside('retries', retried, 'size of the record in the retry topic'),
    retryRecordBytes: measured('retries', retried, 'size of the record in the retry topic'),
    collect: measured('collector', collected, 'CPU per message'),
    collectorMb: measured('collector', collected, 'peak memory'),
    memberBytes: measured('audiences', restored, 'memory per member'),
    restore: 1e6 / measured('audiences', restored, 'members restored'),
  }
  if (missing.length > 0)
    throw new Error(`figures that are not published or not a number: ${[...new Set(missing)].join('; ')}`)
  return coefficients
}

/** Concurrent requests in the row `delivery` of `make bench`. */
const [callsAt20ms, callsAt200ms] = [512, 4_096]

/** Numbers of hosts that the row `https` of `make bench` measures, by HTTP client. */
const measuredHosts: Readonly<Record<string, readonly number[]>> = {
  undici: [1, 100, 1_000, 10_000],
  got: [1, 1_000],
}

/** CPU time of a delivery over HTTPS in microseconds. */
export function deliveryMicros(
  { delivery, https }: Pick<Coefficients, 'delivery' | 'https'>,
  { answerMs, hosts }: { readonly answerMs: number; readonly hosts: number },
): number {
  const plain = interpolated(
    delivery.map(each => ({ x: each.answerMs, y: each.micros })),
    answerMs,
  )
  // From 1 to 10,000 hosts, the CPU time grows about as much with every tenfold number of hosts.
  const additional = interpolated(
    https.map(each => ({ x: Math.log10(each.hosts), y: each.micros })),
    Math.log10(hosts),
  )
  return plain + additional
}

/** Memory of a dispatcher in MB that HTTPS to this number of hosts needs in addition. */
export const httpsMemory = ({ https }: Pick<Coefficients, 'https'>, hosts: number): number =>
  interpolated(
    https.map(each => ({ x: each.hosts, y: each.mb })),
    hosts,
  )

/** Interpolates linearly between two points. Beyond all points, the nearest value. */
function interpolated(points: readonly { readonly x: number; readonly y: number }[], x: number): number {
  const upper = points.find(each => each.x >= x)
  const lower = points.findLast(each => each.x <= x)
  if (upper === undefined || lower === undefined || upper === lower) return (upper ?? lower)?.y ?? Number.NaN
  return lower.y + ((x - lower.x) / (upper.x - lower.x)) * (upper.y - lower.y)
}
