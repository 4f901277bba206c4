import type { SuccessLog } from './receiver/ledger.ts'

/** How an endpoint that answers again gets what it has missed. */
export interface Draining {
  /** The first and the last success for what it had missed, in ms since 1970. */
  readonly from: number
  readonly to: number
  /** Successes for it in the fullest second of that time, what was new included. */
  readonly mostInASecond: number
  /** The same in a second, on average. */
  readonly perSecond: number
}

/** @throws RangeError when nothing of what it had missed came */
export function drainingOf(
  { numbers, times }: SuccessLog,
  { isFor, isMissed }: { readonly isFor: (number: number) => boolean; readonly isMissed: (number: number) => boolean },
): Draining {
  const missed = numbers.flatMap((number, index) => (isMissed(number) ? [times[index] ?? Number.NaN] : []))
  const [from, to] = [missed[0], missed.at(-1)]
  if (from === undefined || to === undefined) throw new RangeError('nothing that was missed has come')
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
