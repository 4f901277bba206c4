import type { FigureName } from '../../../test/tools/bench/figure-names.ts'
import type { RowName } from '../../../test/tools/bench/options.ts'
import { type Entry, figureOf } from '../../../test/tools/bench/publication/published-entries.ts'
import { variantOf } from '../../../test/tools/bench/variant-names.ts'

/** Costs that `make bench` measured and published. Deliveries are over HTTPS. */
export interface Coefficients {
  /**
   * CPU time of a delivery to one host in microseconds, in ascending order of response times.
   * `isDerived`: calculated from the figure over plain HTTP.
   */
  readonly delivery: readonly { readonly answerMs: number; readonly micros: number; readonly isDerived: boolean }[]
  /**
   * What several hosts cost in addition to one: CPU time of a delivery in microseconds, and memory
   * of a dispatcher in MB. In ascending order of the number of hosts, beginning with 1.
   */
  readonly hosts: readonly { readonly hosts: number; readonly micros: number; readonly mb: number }[]
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
  const program = `hookline ${transport}`
  const plain = (answerMs: number): Cost => ({
    micros: 1e6 / measured('delivery', variantOf.delivery(program, answerMs), 'deliveries'),
    mb: measured('delivery', variantOf.delivery(program, answerMs), 'peak memory'),
  })
  const secure = (answerMs: number, hosts: number): Cost => ({
    micros: 1e6 / measured('https', variantOf.https(program, answerMs, hosts), 'deliveries'),
    mb: measured('https', variantOf.https(program, answerMs, hosts), 'peak memory'),
  })
  const cases = httpsCases[transport] ?? httpsCases.undici
  const usual = secure(20, 1)
  const derived = (answerMs: number): Cost => plus(usual, minus(plain(answerMs), plain(20)))
  const byAnswer = [0, 20, 200].map(answerMs =>
    cases.answerMs.includes(answerMs)
      ? { answerMs, ...secure(answerMs, 1), isDerived: false }
      : { answerMs, ...derived(answerMs), isDerived: true },
  )
  const eachCall = ((byAnswer.at(-1)?.mb ?? Number.NaN) - usual.mb) / (callsAt200ms - callsAt20ms)
  // The bench subtracts the CPU time of attempts from that of retries. With undici, attempts cost
  // least, so the result is most exact.
  const [cheapest, retried] = [variantOf.delivery('hookline undici', 20), variantOf.retries('hookline undici')]
  const ofReference = measured('retries', retried, 'CPU of a retry, relative to a delivery of the reference loop')
  const [collected, restored] = [variantOf.collector('hookline', 20), variantOf.audiences(1_000_000)]
  const coefficients: Coefficients = {
    delivery: byAnswer.map(({ answerMs, micros, isDerived }) => ({ answerMs, micros, isDerived })),
    hosts: cases.hosts.map(hosts => ({ hosts, ...minus(secure(20, hosts), usual) })),
    memory: { base: usual.mb - eachCall * callsAt20ms, eachCall },
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

/** Concurrent requests with responses after 20 and 200 ms in the rows `delivery` and `https`. */
const [callsAt20ms, callsAt200ms] = [512, 4_096]

/**
 * The cases of the row `https` that `make bench` measures for each HTTP client: response times with
 * one host, and numbers of hosts with responses after 20 ms.
 */
const httpsCases = {
  undici: { answerMs: [0, 20, 200], hosts: [1, 100, 1_000, 10_000] },
  got: { answerMs: [20], hosts: [1, 1_000] },
} as Readonly<Record<string, Cases>> & { readonly undici: Cases }

interface Cases {
  readonly answerMs: readonly number[]
  readonly hosts: readonly number[]
}

/** CPU time of a delivery in microseconds, and peak memory of a dispatcher in MB. */
interface Cost {
  readonly micros: number
  readonly mb: number
}

const plus = (a: Cost, b: Cost): Cost => ({ micros: a.micros + b.micros, mb: a.mb + b.mb })
const minus = (a: Cost, b: Cost): Cost => ({ micros: a.micros - b.micros, mb: a.mb - b.mb })

/** CPU time of a delivery over HTTPS in microseconds. */
export const deliveryMicros = (
  { delivery, hosts }: Pick<Coefficients, 'delivery' | 'hosts'>,
  load: { readonly answerMs: number; readonly hosts: number },
): number =>
  interpolated(
    delivery.map(each => ({ x: each.answerMs, y: each.micros })),
    load.answerMs,
  ) +
  interpolated(
    hosts.map(each => ({ x: Math.log10(each.hosts), y: each.micros })),
    Math.log10(load.hosts),
  )

/** Memory in MB that a dispatcher needs for several hosts, in addition to that for one host. */
export const memoryForHosts = ({ hosts }: Pick<Coefficients, 'hosts'>, count: number): number =>
  interpolated(
    hosts.map(each => ({ x: each.hosts, y: each.mb })),
    count,
  )

/** Interpolates linearly between two points. Beyond all points, the nearest value. */
function interpolated(points: readonly { readonly x: number; readonly y: number }[], x: number): number {
  const upper = points.find(each => each.x >= x)
  const lower = points.findLast(each => each.x <= x)
  if (upper === undefined || lower === undefined || upper === lower) return (upper ?? lower)?.y ?? Number.NaN
  return lower.y + ((x - lower.x) / (upper.x - lower.x)) * (upper.y - lower.y)
}
