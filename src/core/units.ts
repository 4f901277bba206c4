/** A primitive that must not be mixed up with another of the same kind. */
type Brand<T, Name extends string> = T & { readonly __brand: Name }

/** Milliseconds since 1970-01-01T00:00:00Z, wall clock. */
export type EpochMs = Brand<number, 'EpochMs'>
/** A length of time in milliseconds. */
export type DurationMs = Brand<number, 'DurationMs'>
/** Compact JSON that is a fixed point of `JSON.stringify(JSON.parse(text))`. */
export type JsonText = Brand<string, 'JsonText'>

export const epochMs = (value: number): EpochMs => value as EpochMs
export const durationMs = (value: number): DurationMs => value as DurationMs

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const durationPattern = /^(\d{1,9})(ms|s|m|h)$/

/** `500ms`, `5s`, `1m`, `4h` → milliseconds; undefined for anything else. */
export function parseDuration(text: string): DurationMs | undefined {
  const [, digits, unit] = durationPattern.exec(text) ?? []
  return digits === undefined ? undefined : durationMs(Number(digits) * unitMs[unit as keyof typeof unitMs])
}

/** The shortest exact form: 60,000 → `1m`, 90,000 → `90s`. Names retry topics, so it never changes for a given length. */
export function formatDuration(duration: DurationMs): string {
  const units = ['h', 'm', 's'] as const
  const unit = units.find(candidate => duration > 0 && duration % unitMs[candidate] === 0) ?? 'ms'
  return `${duration / unitMs[unit]}${unit}`
}

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

/** The text of a value that is a secret only where it comes from a file. */
export const revealed = (value: string | Secret): string => (value instanceof Secret ? value.reveal() : value)

/** Ends a switch over a closed set; reaching it is a bug. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`)
}

/** Why something cannot be taken, and what helps. */
export interface Objection {
  readonly message: string
  readonly hint: string
}
