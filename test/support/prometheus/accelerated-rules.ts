import type { Rule } from './rules.ts'

/** In seconds. */
const minute = 1
/**
 * Maximum seconds of an accelerated window: three days would otherwise take 72 minutes. A window of
 * one hour takes 60 s, and longer windows must stay longer.
 */
const longest = 75

const minutesOf: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 }

/**
 * Matches the durations in `[5m]` and `offset 10m`, and the 60 in `* 60`. Matches quoted texts to
 * keep them unchanged.
 */
const token = /"(?:\\.|[^"\\])*"|(?<=\[|offset )(?<count>\d+)(?<unit>[mhd])\b|(?<=\* )60\b/g

function accelerated(count: number, unit: string): string {
  return `${Math.min(longest, count * (minutesOf[unit] ?? Number.NaN) * minute)}s`
}

/**
 * Speeds a rule up: a minute becomes a second in windows, offsets, `for` and the factor 60.
 * Thresholds stay the same.
 */
export function accelerate<Any extends Pick<Rule, 'expr' | 'for'>>({ expr, for: patience, ...rule }: Any): Any {
  const text = expr.replaceAll(token, (found, count?: string, unit?: string) => {
    if (count !== undefined && unit !== undefined) return accelerated(Number(count), unit)
    return found === '60' ? `${minute}` : found
  })
  const [, count = '', unit = ''] = /^(\d+)([mhd])$/.exec(patience ?? '') ?? []
  return { ...rule, expr: text, ...(patience !== undefined && { for: accelerated(Number(count), unit) }) } as Any
}
