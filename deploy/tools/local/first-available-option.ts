/**
 * The result of trying one option. An option is a way to get a service, for example to run Kafka in
 * a container. The result is the service, or the reason why the option is unavailable and how to
 * change that.
 */
export type Availability<T> =
  | { readonly kind: 'available'; readonly value: T }
  | { readonly kind: 'unavailable'; readonly why: string; readonly remedy: string }

export interface Option<T> {
  readonly name: string
  /**
   * Finds the service.
   * @throws when the option is available but fails. Then no other option is tried, because that
   * would hide the failure.
   */
  find(): Promise<Availability<T>>
}

/** An option that is unavailable. */
export const unavailable = (why: string, remedy: string): Availability<never> => ({
  kind: 'unavailable',
  why,
  remedy,
})

/**
 * Thrown when no option is available. The message lists each option, its problem and the remedy.
 */
export class NothingAvailable extends Error {
  readonly code = 'nothing_available'

  constructor(what: string, notAvailable: readonly { name: string; why: string; remedy: string }[]) {
    const lines = notAvailable.map(({ name, why, remedy }) => `  - ${name}: ${why}. ${remedy}`)
    super([`${what} is not available. Use one of these options:`, ...lines].join('\n'))
    this.name = 'NothingAvailable'
  }
}

/**
 * Uses the first available option and logs the ones that are unavailable.
 * @throws NothingAvailable when there is none
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
