import type { Rule } from './prometheus-rules.ts'

/** Seconds that a minute takes. */
const minute = 1
/**
 * Seconds that nothing exceeds: what has come into a window has to leave it again while a test waits. Without it three days would take more
 * than an hour. More than one hour takes, so that no window becomes longer than one that it is compared with.
 */
const longest = 75

const minutesOf: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 }

/** `[5m]`, `offset 10m`; what selects by label stays whole, whatever it says. */
const token = /"(?:\\.|[^"\\])*"|(?<=\[|offset )(?<count>\d+)(?<unit>[mhd])\b|(?<=\* )60\b/g

function quickened(count: number, unit: string): string {
  return `${Math.min(longest, count * (minutesOf[unit] ?? Number.NaN) * minute)}s`
}

/**
 * The rules as they are, on a faster clock: a minute takes a second, in windows and offsets, in what an alert waits for, and where a number
 * of seconds is written as minutes times 60. Nothing else of an expression changes: neither what is compared nor with how much. So an alert
 * fires for the reason for which it would fire in operation, and a test need not last for hours.
 */
export function quicken<Any extends Pick<Rule, 'expr' | 'for'>>({ expr, for: patience, ...rule }: Any): Any {
  const text = expr.replaceAll(token, (found, count?: string, unit?: string) => {
    if (count !== undefined && unit !== undefined) return quickened(Number(count), unit)
    return found === '60' ? `${minute}` : found
  })
  const [, count = '', unit = ''] = /^(\d+)([mhd])$/.exec(patience ?? '') ?? []
  return { ...rule, expr: text, ...(patience !== undefined && { for: quickened(Number(count), unit) }) } as Any
}
