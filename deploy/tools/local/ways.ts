/** What came of one way to get something: it, or why this way is closed here and how to open it. */
export type Attempt<T> =
  | { readonly kind: 'got'; readonly it: T }
  | { readonly kind: 'unavailable'; readonly why: string; readonly remedy: string }

export interface Way<T> {
  readonly name: string
  /** @throws when the way is open but fails on the road: the next way would only hide that. */
  attempt(): Promise<Attempt<T>>
}

/** Nothing that can be had on this machine would do; the message lists each way, what it lacks and how to get that. */
export class NothingAvailable extends Error {
  readonly code = 'nothing_available'

  constructor(what: string, closed: readonly { name: string; why: string; remedy: string }[]) {
    const ways = closed.map(({ name, why, remedy }) => `  - ${name}: ${why}. ${remedy}`)
    super([`There is no ${what}. One of these is enough:`, ...ways].join('\n'))
    this.name = 'NothingAvailable'
  }
}

/**
 * Goes through the ways in their order and takes the first that is open; what is passed over is said in `log`.
 * @throws NothingAvailable when none is.
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
