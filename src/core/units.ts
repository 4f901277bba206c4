/** A primitive type to which no plain value and no value of another brand can be assigned. */
type Brand<T, Name extends string> = T & { readonly __brand: Name }

/** Milliseconds since 1970-01-01T00:00:00Z, wall clock. */
export type EpochMs = Brand<number, 'EpochMs'>
/** A duration in milliseconds. */
export type DurationMs = Brand<number, 'DurationMs'>
/** Compact JSON text that `JSON.stringify(JSON.parse(text))` returns unchanged. */
export type JsonText = Brand<string, 'JsonText'>

export const epochMs = (value: number): EpochMs => value as EpochMs
export const durationMs = (value: number): DurationMs => value as DurationMs

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const durationPattern = /^(\d{1,9})(ms|s|m|h)$/

/** Parses `500ms`, `5s`, `1m` or `4h`; `undefined` for any other text. */
export function parseDuration(text: string): DurationMs | undefined {
  const [, digits, unit] = durationPattern.exec(text) ?? []
  return digits === undefined ? undefined : durationMs(Number(digits) * unitMs[unit as keyof typeof unitMs])
}

/**
 * Formats a duration in its largest whole unit: 60,000 → `1m`, 90,000 → `90s`. The names of retry
 * topics contain this text, so the result for a duration must never change.
 */
export function formatDuration(duration: DurationMs): string {
  const units = ['h', 'm', 's'] as const
  const unit = units.find(candidate => duration > 0 && duration % unitMs[candidate] === 0) ?? 'ms'
  return `${duration / unitMs[unit]}${unit}`
}

/** `1 topic`, `2 topics` */
export const countWithNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** A value that must never be printed: `String`, JSON and `util.inspect` all show `***`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return '***'
  }

  toJSON(): string {
    return '***'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '***'
  }
}

/** Returns the text of a configuration value that may or may not be a `Secret`. */
export const revealed = (value: string | Secret): string => (value instanceof Secret ? value.reveal() : value)

/**
 * Checks at compile time that a switch handles every case. At run time a call is a bug, so it
 * throws.
 */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`)
}

/** Why a value is rejected, and what the user should do. */
export interface Objection {
  readonly message: string
  readonly hint: string
}
