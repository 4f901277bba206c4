/** Where something stands in the configuration: keys and positions from the top. */
export type Path = readonly (string | number)[]

interface Wrong {
  readonly path: Path
  /** Goes on after the path: `must be …`, `is missing`. */
  readonly message: string
  /** The key is at fault, not its value. */
  readonly at?: 'key'
  /** The owner of a directory of `destinationsFrom` can cause it: it refuses nothing. */
  readonly isExcluded?: boolean
}

/** What helps against it: what may stand there, what to do, or where the same thing stood before (`first`). */
type Help =
  | { readonly hint: string; readonly first?: Path | undefined }
  | { readonly hint?: string; readonly first: Path }

/** What is wrong at one place. Texts never hold a secret's value. */
export type SettingsProblem = Wrong & Help

/** So many are told of one configuration; who has mended them is told the next. */
export const mostProblems = 100

/** Stands for the path of what is no key's fault: no key looks like this, since it would be quoted. */
export const wholeFile = 'the file'

/** Stands in a path for a key that is none of ours: a slip in the form makes keys of values, of secrets too. */
export const untold = '***'

/** `destinations[0].webhooks[5]`; keys that are no plain names are quoted. */
export function formatPath(path: Path): string {
  return path
    .map(part => {
      if (typeof part === 'number') return `[${part}]`
      return part === untold || /^[\w$-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`
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
