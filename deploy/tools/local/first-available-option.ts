/** A service, or why this way to get the service is unavailable. */
export type Availability<T> =
  | { readonly kind: 'available'; readonly value: T }
  | { readonly kind: 'unavailable'; readonly why: string; readonly remedy: string }

export interface Option<T> {
  readonly name: string
  /** @throws when the option is available but fails, so that no other option hides the failure */
  find(): Promise<Availability<T>>
}

export const unavailable = (why: string, remedy: string): Availability<never> => ({
  kind: 'unavailable',
  why,
  remedy,
})

/** Thrown when all options are unavailable. The message lists their problems and remedies. */
export class NothingAvailable extends Error {
  readonly code = 'nothing_available'

  constructor(what: string, notAvailable: readonly { name: string; why: string; remedy: string }[]) {
    const lines = notAvailable.map(({ name, why, remedy }) => `  - ${name}: ${why}. ${remedy}`)
    super([`${what} is not available. Use one of these options:`, ...lines].join('\n'))
    this.name = 'NothingAvailable'
  }
}

/**
 * Uses the first available option and logs the unavailable ones before it.
 * @throws NothingAvailable when all are unavailable
 */
export async function firstAvailable<T>(
  what: string,
  options: readonly Option<T>[],
  log: (line: string) => void,
): Promise<T> {
  const notAvailable: { name: string; why: string; remedy: string }[] = []
  for (const option of options) {
    const found = await option.find()
    if (found.kind === 'available') {
      const others = notAvailable.map(({ name, why }) => `${name}: ${why}`).join('; ')
      log(`${what}: uses ${option.name}${others === '' ? '' : ` (these are not available: ${others})`}`)
      return found.value
    }
    notAvailable.push({ name: option.name, why: found.why, remedy: found.remedy })
  }
  throw new NothingAvailable(what, notAvailable)
}
