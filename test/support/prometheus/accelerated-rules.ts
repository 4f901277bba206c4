import type { Rule } from './rules.ts'

/** The length of a minute in seconds. */
const minute = 1
/**
 * Seconds that nothing exceeds: what has come into a window has to leave it again while a test waits. Without it three days would take more
 * than an hour. More than one hour takes, so that no window becomes longer than one that it is compared with.
 */
const longest = 75

const minutesOf: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 }

/** `[5m]`, `offset 10m`; what selects by label stays whole, whatever it says. */
const token = /"(?:\\.|[^"\\])*"|(?<=\[|offset )(?<count>\d+)(?<unit>[mhd])\b|(?<=\* )60\b/g

function accelerated(count: number, unit: string): string {
  return `${Math.min(longest, count * (minutesOf[unit] ?? Number.NaN) * minute)}s`
}

/**
 * A rule on a faster clock: a minute becomes a second in windows, in offsets, in `for`, and where seconds
 * are written as minutes times 60. Comparisons and thresholds stay. So an alert fires for the same
 * reason as in operation, and a test does not take hours.
 */
export function accelerate<Any extends Pick<Rule, 'expr' | 'for'>>({ expr, for: patience, ...rule }: Any): Any {
  const text = expr.replaceAll(token, (found, count?: string, unit?: string) => {
    if (count !== undefined && unit !== undefined) return accelerated(Number(count), unit)
    return found === '60' ? `${minute}` : found
  })
  const [, count = '', unit = ''] = /^(\d+)([mhd])$/.exec(patience ?? '') ?? []
  return { ...rule, expr: text, ...(patience !== undefined && { for: accelerated(Number(count), unit) }) } as Any
}
