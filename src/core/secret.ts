/** What texts, logs and responses show instead of a secret. */
export const mask = '***'

/** A value that must never be printed: `String`, JSON and `util.inspect` all show `mask`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return mask
  }

  toJSON(): string {
    return mask
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return mask
  }
}

/** Returns the text of a configuration value that may or may not be a `Secret`. */
export const revealed = (value: string | Secret): string => (value instanceof Secret ? value.reveal() : value)
