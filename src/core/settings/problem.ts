/** Where something stands in the configuration: keys and positions from the top. */
export type Path = readonly (string | number)[]

/** What is wrong at one place. Texts never hold a secret's value. */
export interface SettingsProblem {
  readonly path: Path
  /** Goes on after the path: `must be …`, `is missing`. */
  readonly message: string
  readonly hint?: string
  /** Where the same thing stood before. */
  readonly first?: Path
  /** The key is at fault, not its value. */
  readonly at?: 'key'
}

/** `destinations[0].webhooks[5]`; keys that are no plain names are quoted. */
export function formatPath(path: Path): string {
  return path
    .map(part => {
      if (typeof part === 'number') return `[${part}]`
      return /^[\w$-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`
    })
    .join('')
    .replace(/^\./, '')
}

/** What stands at a path of a parsed document; undefined when nothing does. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Record<string | number, unknown>)[part]
  }
  return found
}
