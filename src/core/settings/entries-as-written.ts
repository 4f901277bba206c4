import type { WellFormed } from './configuration-rule.ts'

type List = 'sources' | 'destinations'

/** The keys of the configuration that the rules for single sources and destinations read. */
const contextKeys = ['network', 'delivery', 'payload', 'traces'] as const satisfies (keyof WellFormed)[]

/** The part of the configuration on which the checks of a single source or destination depend. */
export type EntryContext = Pick<WellFormed, (typeof contextKeys)[number]>

/**
 * The sources and destinations as they are written in the file, for the operator API. They may have
 * secrets, so the fields are private: neither JSON nor a log line shows them.
 */
export class GivenEntries {
  readonly #config: WellFormed
  readonly #entries: Readonly<Record<List, ReadonlyMap<string, object>>>

  /**
   * `hidden`: ids of destinations that Hookline only keeps as placeholders for missing or invalid
   * files. They are not entries of a file.
   */
  constructor(config: WellFormed, hidden: ReadonlySet<string> = new Set()) {
    const shown = config.destinations?.filter(entry => !hidden.has(entry?.id ?? ''))
    this.#config = config
    this.#entries = { sources: byId(config.sources), destinations: byId(shown) }
  }

  get context(): EntryContext {
    return Object.fromEntries(contextKeys.map(key => [key, this.#config[key]]))
  }

  /** The entry with this id, including its secrets; `undefined` when the file has none. */
  entry(list: List, id: string): object | undefined {
    const entry = this.#entries[list].get(id)
    return entry && (withPlainNames(entry) as object)
  }

  /** Returns these entries without the destinations with the given ids. */
  without(destinations: ReadonlySet<string>): GivenEntries {
    return new GivenEntries(this.#config, destinations)
  }
}

const byId = (
  entries: readonly ({ readonly id?: string | undefined } | undefined)[] = [],
): ReadonlyMap<string, object> =>
  new Map(entries.flatMap(entry => (entry?.id === undefined ? [] : [[entry.id, entry] as const])))

/**
 * Returns an entry of `destinationsFrom` with its file names as a user wrote them. After the file
 * was read, each file name has a prefix: the number of the directory and a NUL. No other text of a
 * configuration begins with this prefix.
 */
function withPlainNames(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^\d+\0/, '')
  if (Array.isArray(value)) return value.map(withPlainNames)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withPlainNames(inner)]))
}
