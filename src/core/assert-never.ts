/**
 * Checks at compile time that a switch handles every case. At run time a call is a bug, so it
 * throws.
 */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`)
}
