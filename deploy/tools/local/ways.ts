/**
 * The result of one option: the service, or why the option is unavailable and how to change that.
 */
export type Attempt<T> =
  | { readonly kind: 'got'; readonly it: T }
  | { readonly kind: 'unavailable'; readonly why: string; readonly remedy: string }

export interface Way<T> {
  readonly name: string
  /** @throws when the option is available but fails. The next option must not hide that. */
  attempt(): Promise<Attempt<T>>
}

/** No option is available. The message lists each option, its problem and the remedy. */
export class NothingAvailable extends Error {
  readonly code = 'nothing_available'

  constructor(what: string, closed: readonly { name: string; why: string; remedy: string }[]) {
    const ways = closed.map(({ name, why, remedy }) => `  - ${name}: ${why}. ${remedy}`)
    super([`${what} is not available. Use one of these options:`, ...ways].join('\n'))
    this.name = 'NothingAvailable'
  }
}

/**
 * Uses the first available option and logs the ones that are unavailable.
 * @throws NothingAvailable when there is none
 */
export async function firstOpenWay<T>(what: string, ways: readonly Way<T>[], log: (line: string) => void): Promise<T> {
  const closed: { name: string; why: string; remedy: string }[] = []
  for (const way of ways) {
    const attempt = await way.attempt()
    if (attempt.kind === 'got') {
      const passedOver = closed.map(({ name, why }) => `${name}: ${why}`).join('; ')
      log(`${what}: ${way.name}${passedOver === '' ? '' : ` (${passedOver})`}`)
      return attempt.it
    }
    closed.push({ name: way.name, why: attempt.why, remedy: attempt.remedy })
  }
  throw new NothingAvailable(what, closed)
}
