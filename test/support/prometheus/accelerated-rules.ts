import type { Rule } from './rules.ts'

/** Length of an accelerated minute, in seconds. */
const minute = 1
/**
 * Maximum length of an accelerated window, in seconds. Without the maximum, a window of three days
 * takes 72 minutes, and a test must wait until the window is empty. The maximum is longer than an
 * accelerated hour (60 s). So a window of more than an hour is still longer than a window of an
 * hour.
 */
const longest = 75

const minutesOf: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 }

/**
 * Matches the durations in `[5m]` and `offset 10m`, and the 60 in `* 60`. It also matches whole
 * quoted texts, so that nothing in them is replaced.
 */
const token = /"(?:\\.|[^"\\])*"|(?<=\[|offset )(?<count>\d+)(?<unit>[mhd])\b|(?<=\* )60\b/g

function accelerated(count: number, unit: string): string {
  return `${Math.min(longest, count * (minutesOf[unit] ?? Number.NaN) * minute)}s`
}

/**
 * Speeds a rule up. A minute becomes a second in windows, in offsets, in `for`, and in expressions
 * that multiply minutes by 60. Comparisons and thresholds stay the same. So an alert fires for the
 * same reason as in production, but a test does not take hours.
 */
export function accelerate<Any extends Pick<Rule, 'expr' | 'for'>>({ expr, for: patience, ...rule }: Any): Any {
  const text = expr.replaceAll(token, (found, count?: string, unit?: string) => {
    if (count !== undefined && unit !== undefined) return accelerated(Number(count), unit)
    return found === '60' ? `${minute}` : found
  })
  const [, count = '', unit = ''] = /^(\d+)([mhd])$/.exec(patience ?? '') ?? []
  return { ...rule, expr: text, ...(patience !== undefined && { for: accelerated(Number(count), unit) }) } as Any
}
