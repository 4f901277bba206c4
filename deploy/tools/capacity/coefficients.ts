import { type Entry, figureOf } from '../../../test/tools/bench/publication/entries.ts'

/** What things cost, as `make bench` has measured and published it. */
export interface Coefficients {
  /** Microseconds of CPU a delivery, by milliseconds to the answer, ascending. */
  readonly delivery: readonly { readonly answerMs: number; readonly micros: number }[]
  /** Of one dispatcher, in MB: without calls, and for each call that it may have under way. */
  readonly memory: { readonly base: number; readonly eachCall: number }
  /** Microseconds of CPU to write a failed delivery to a retry topic and take it up again. */
  readonly park: number
  /** Bytes of the record of an event, and of the same event in a retry topic: key, value and headers. */
  readonly eventBytes: number
  readonly parkedBytes: number
  /** Of the collector: microseconds of CPU a message that comes in one of twenty to a request, and MB of one process. */
  readonly collect: number
  readonly collectorMb: number
  /** Of the audiences service: bytes in memory, and microseconds of CPU to restore a member. */
  readonly memberBytes: number
  readonly restore: number
}

type Place = Parameters<typeof figureOf>[1]

/** The coefficients of dispatchers with this transport. @throws Error naming each figure that was never published, or has no number */
export function coefficientsFrom(entries: readonly Entry[], transport: string): Coefficients {
  const missing: string[] = []
  const from = (place: Place, of: (value: NonNullable<ReturnType<typeof figureOf>>) => number | null | undefined) => {
    const value = figureOf(entries, place)
    const figure = value && of(value)
    if (figure === undefined || figure === null) missing.push(`${place.row}: ${place.variant}: ${place.what}`)
    return figure ?? Number.NaN
  }
  const measured = (row: string, variant: string, what: string): number =>
    from({ row, variant, what }, value => value.measured)
  const beside = (row: string, variant: string, what: string): number =>
    from({ row, variant, what }, value => value.reference?.measured)
  const delivered = (answerMs: number, what: string): number =>
    measured('delivery', `hookline ${transport}, ${answerMs} ms`, what)

  const delivery = [0, 20, 200].map(answerMs => ({ answerMs, micros: 1e6 / delivered(answerMs, 'deliveries') }))
  const [few, many] = [delivered(20, 'peak memory'), delivered(200, 'peak memory')]
  const eachCall = (many - few) / (callsAt200ms - callsAt20ms)
  // Parking makes no call: it costs the same whatever makes them, and shows best beside the cheapest.
  const [cheapest, parked] = ['hookline undici, 20 ms', 'hookline undici, 1 of 3 parked']
  const ofBare = measured('retries', parked, 'park and release, of a bare delivery')
  const coefficients: Coefficients = {
    delivery,
    memory: { base: few - eachCall * callsAt20ms, eachCall },
    // By the bare loop beside the deliveries: so that all is said of one machine, whichever the row was measured on.
    park: (ofBare * 1e6) / beside('delivery', cheapest, 'deliveries'),
    eventBytes: beside('retries', parked, 'parked record'),
    parkedBytes: measured('retries', parked, 'parked record'),
    collect: measured('collector', 'hookline, 20 in a request', 'CPU a message'),
    collectorMb: measured('collector', 'hookline, 20 in a request', 'peak memory'),
    memberBytes: measured('audiences', 'hookline, 1000000 members', 'memory of a member'),
    restore: 1e6 / measured('audiences', 'hookline, 1000000 members', 'restored'),
  }
  if (missing.length > 0) throw new Error(`not published, or without a number: ${[...new Set(missing)].join('; ')}`)
  return coefficients
}

/** Calls in flight of the bench's row `delivery`, by its answers' delay. */
const [callsAt20ms, callsAt200ms] = [512, 4_096]

/** Microseconds of CPU a delivery with answers after so many milliseconds: between two measured ones in proportion, beyond them as the last. */
export function deliveryMicros({ delivery }: Pick<Coefficients, 'delivery'>, answerMs: number): number {
  const upper = delivery.find(each => each.answerMs >= answerMs)
  const lower = delivery.findLast(each => each.answerMs <= answerMs)
  if (upper === undefined || lower === undefined || upper === lower) return (upper ?? lower)?.micros ?? Number.NaN
  const way = (answerMs - lower.answerMs) / (upper.answerMs - lower.answerMs)
  return lower.micros + way * (upper.micros - lower.micros)
}
