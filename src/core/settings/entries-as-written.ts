import type { WellFormed } from './configuration-rule.ts'

type List = 'sources' | 'destinations'

/** The configuration keys that rules for single sources and destinations read. */
const contextKeys = ['network', 'delivery', 'payload', 'traces'] as const satisfies (keyof WellFormed)[]

export type EntryContext = Pick<WellFormed, (typeof contextKeys)[number]>

/**
 * The entries as written in the file. The fields are private, because neither JSON nor a log line
 * may show their secrets.
 */
export class GivenEntries {
  readonly #config: WellFormed
  readonly #entries: Readonly<Record<List, ReadonlyMap<string, object>>>

  /** `hidden`: ids of destinations that are only placeholders for missing or invalid files. */
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

  /** Returns these entries without some destinations. */
  without(destinations: ReadonlySet<string>): GivenEntries {
    return new GivenEntries(this.#config, destinations)
  }
}

const byId = (
  entries: readonly ({ readonly id?: string | undefined } | undefined)[] = [],
): ReadonlyMap<string, object> =>
  new Map(entries.flatMap(entry => (entry?.id === undefined ? [] : [[entry.id, entry] as const])))

/**
 * Restores file names as the user wrote them: removes the mark (directory number and NUL) that
 * Hookline adds in files of `destinationsFrom`. No other text begins with this mark.
 */
function withPlainNames(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^\d+\0/, '')
  if (Array.isArray(value)) return value.map(withPlainNames)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withPlainNames(inner)]))
}
