import type { FigureName } from '../../../test/tools/bench/figure-names.ts'
import type { RowName } from '../../../test/tools/bench/options.ts'
import { type Entry, figureOf } from '../../../test/tools/bench/publication/published-entries.ts'
import { variantOf } from '../../../test/tools/bench/variant-names.ts'

/** Costs that `make bench` measured and published. */
export interface Coefficients {
  /** CPU time of a delivery in microseconds, in ascending order of response times. */
  readonly delivery: readonly { readonly answerMs: number; readonly micros: number }[]
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
  // Retry records cost the same with every HTTP client. The bench calculates their cost by
  // subtracting the CPU time of attempts. So the result is most exact with undici, whose attempts
  // cost least.
  const [cheapest, retried] = [variantOf.delivery('hookline undici', 20), variantOf.retries('hookline undici')]
  const ofReference = measured('retries', retried, 'CPU of a retry, relative to a delivery of the reference loop')
  const [collected, restored] = [variantOf.collector('hookline', 20), variantOf.audiences(1_000_000)]
  const coefficients: Coefficients = {
    delivery,
    memory: { base: few - eachCall * callsAt20ms, eachCall },
    // `ofReference` is a ratio to the CPU time of the bench's reference loop (a minimal program),
    // perhaps measured on another machine. So the ratio is multiplied by the loop's CPU time per
    // delivery in the row `delivery`.
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

/**
 * CPU time of a delivery in microseconds, interpolated linearly between two measured response
 * times. Beyond them, the nearest value.
 */
export function deliveryMicros({ delivery }: Pick<Coefficients, 'delivery'>, answerMs: number): number {
  const upper = delivery.find(each => each.answerMs >= answerMs)
  const lower = delivery.findLast(each => each.answerMs <= answerMs)
  if (upper === undefined || lower === undefined || upper === lower) return (upper ?? lower)?.micros ?? Number.NaN
  const way = (answerMs - lower.answerMs) / (upper.answerMs - lower.answerMs)
  return lower.micros + way * (upper.micros - lower.micros)
}
