import type { SuccessLog } from './receiver/event-tally.ts'

export interface Draining {
  /** Times of the first and last success of the backlog, in ms since 1970. */
  readonly from: number
  readonly to: number
  /** Successes in the busiest second, new events included. */
  readonly mostInASecond: number
  /** Average successes per second, new events included. */
  readonly perSecond: number
}

/**
 * Measures how fast an endpoint got its backlog: the events that it missed (`isMissed`). `isFor`
 * selects all events of the endpoint.
 * @throws RangeError when no missed event has arrived
 */
export function drainingOf(
  { numbers, times }: Pick<SuccessLog, 'numbers' | 'times'>,
  { isFor, isMissed }: { readonly isFor: (number: number) => boolean; readonly isMissed: (number: number) => boolean },
): Draining {
  const missed = numbers.flatMap((number, index) => (isMissed(number) ? [times[index] ?? Number.NaN] : []))
  const [from, to] = [missed[0], missed.at(-1)]
  if (from === undefined || to === undefined) throw new RangeError('no event of the backlog has arrived')
  const bySecond = new Map<number, number>()
  numbers.forEach((number, index) => {
    const at = times[index] ?? Number.NaN
    if (!isFor(number) || at < from || at > to) return
    const second = Math.floor((at - from) / 1_000)
    bySecond.set(second, (bySecond.get(second) ?? 0) + 1)
  })
  const counts = [...bySecond.values()]
  const all = counts.reduce((sum, count) => sum + count, 0)
  return { from, to, mostInASecond: Math.max(...counts), perSecond: (all * 1_000) / Math.max(1, to - from) }
}
