/** What texts, logs and responses show instead of a secret. */
export const mask = '***'

/** `String`, JSON and `util.inspect` show `mask` instead of the value. */
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

export const revealed = (value: string | Secret): string => (value instanceof Secret ? value.reveal() : value)
