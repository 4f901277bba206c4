import type { WellFormed } from './rule.ts'

type List = 'sources' | 'destinations'

/** The keys of the configuration that rules for single sources and destinations read. */
const contextKeys = ['network', 'delivery', 'payload', 'traces'] as const satisfies (keyof WellFormed)[]

/** The part of the configuration on which the checks of a single source or destination depend. */
export type EntryContext = Pick<WellFormed, (typeof contextKeys)[number]>

/**
 * The sources and destinations as the file has them, for the operator API. They may have secrets, so
 * the fields are private: neither JSON nor a log line shows them.
 */
export class GivenEntries {
  readonly #config: WellFormed
  readonly #entries: Readonly<Record<List, ReadonlyMap<string, object>>>

  /** `hidden`: ids of destinations that are placeholders, not entries of a file. */
  constructor(config: WellFormed, hidden: ReadonlySet<string> = new Set()) {
    const shown = config.destinations?.filter(entry => !hidden.has(entry?.id ?? ''))
    this.#config = config
    this.#entries = { sources: byId(config.sources), destinations: byId(shown) }
  }

  get context(): EntryContext {
    return Object.fromEntries(contextKeys.map(key => [key, this.#config[key]]))
  }

  /** The entry with an id, with its secrets; `undefined` when the file has none. */
  entry(list: List, id: string): object | undefined {
    const entry = this.#entries[list].get(id)
    return entry && (withPlainNames(entry) as object)
  }

  /** The same entries without these destinations. */
  without(destinations: ReadonlySet<string>): GivenEntries {
    return new GivenEntries(this.#config, destinations)
  }
}

const byId = (
  entries: readonly ({ readonly id?: string | undefined } | undefined)[] = [],
): ReadonlyMap<string, object> =>
  new Map(entries.flatMap(entry => (entry?.id === undefined ? [] : [[entry.id, entry] as const])))

/**
 * Removes the number of the directory and the NUL that mark the file names of an entry in
 * `destinationsFrom`. No other text of a configuration begins with them.
 */
function withPlainNames(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^\d+\0/, '')
  if (Array.isArray(value)) return value.map(withPlainNames)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withPlainNames(inner)]))
}
