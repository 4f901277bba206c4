import { Secret } from '../../../src/core/secret.ts'

/** The configuration with its secrets in plain text. */
export function revealed(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() }
  if (Array.isArray(value)) return value.map(revealed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, revealed(each)]))
}
