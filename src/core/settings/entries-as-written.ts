import type { WellFormed } from './configuration-rule.ts'

type List = 'sources' | 'destinations'

/** The top-level keys that are needed to check a single source or destination. */
const contextKeys = ['network', 'delivery', 'payload', 'traces'] as const satisfies (keyof WellFormed)[]

export type EntryContext = Pick<WellFormed, (typeof contextKeys)[number]>

/**
 * The sources and destinations as written in the configuration file. The fields are private,
 * because neither JSON nor a log line may show the secrets.
 */
export class EntriesAsWritten {
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

  /**
   * The entry with this id, including its secrets; `undefined` if the file has no entry with this
   * id.
   */
  entry(list: List, id: string): object | undefined {
    const entry = this.#entries[list].get(id)
    return entry && (withPlainNames(entry) as object)
  }

  /** Returns a copy without the destinations whose ids are in `destinations`. */
  without(destinations: ReadonlySet<string>): EntriesAsWritten {
    return new EntriesAsWritten(this.#config, destinations)
  }
}

const byId = (
  entries: readonly ({ readonly id?: string | undefined } | undefined)[] = [],
): ReadonlyMap<string, object> =>
  new Map(entries.flatMap(entry => (entry?.id === undefined ? [] : [[entry.id, entry] as const])))

/**
 * Restores file names as the user wrote them. If a file of `destinationsFrom` names another file,
 * Hookline puts a mark (directory number and NUL) before the name. No other text begins with this
 * mark.
 */
function withPlainNames(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^\d+\0/, '')
  if (Array.isArray(value)) return value.map(withPlainNames)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withPlainNames(inner)]))
}
