import type { Brand } from './branded-type.ts'

/** Milliseconds since 1970-01-01T00:00:00Z, wall clock. */
export type EpochMs = Brand<number, 'EpochMs'>
/** A duration in milliseconds. */
export type DurationMs = Brand<number, 'DurationMs'>

export const epochMs = (value: number): EpochMs => value as EpochMs
export const durationMs = (value: number): DurationMs => value as DurationMs

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const durationPattern = /^(\d{1,9})(ms|s|m|h)$/

/** Parses a duration like `500ms`, `5s`, `1m` or `4h`. Returns `undefined` for any other form. */
export function parseDuration(text: string): DurationMs | undefined {
  const [, digits, unit] = durationPattern.exec(text) ?? []
  return digits === undefined ? undefined : durationMs(Number(digits) * unitMs[unit as keyof typeof unitMs])
}

/**
 * Formats 60,000 as `1m`, and 90,000 as `90s`. Never change a result, because the names of retry
 * topics contain it.
 */
export function formatDuration(duration: DurationMs): string {
  const units = ['h', 'm', 's'] as const
  const unit = units.find(candidate => duration > 0 && duration % unitMs[candidate] === 0) ?? 'ms'
  return `${duration / unitMs[unit]}${unit}`
}

/** Formats a duration in all its units, for people: 13,900,000 → `3h 51m 40s`. */
export function readableDuration(duration: DurationMs): string {
  let rest: number = duration
  const parts = (['h', 'm', 's', 'ms'] as const).flatMap(unit => {
    const count = Math.floor(rest / unitMs[unit])
    rest -= count * unitMs[unit]
    return count === 0 ? [] : [`${count}${unit}`]
  })
  return parts.join(' ') || '0ms'
}
