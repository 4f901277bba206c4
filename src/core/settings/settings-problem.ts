/** A place in the configuration: keys and list indexes from the top. */
export type Path = readonly (string | number)[]

interface Wrong {
  readonly path: Path
  /** What is wrong, as a text that follows the path, for example `must be …` or `is missing`. */
  readonly message: string
  /** Set when the key is wrong, not its value. */
  readonly at?: 'key'
  /**
   * Whether the owner of a directory in `destinationsFrom` can cause this problem. If so, the
   * problem is reported, but the rest of the configuration is still used.
   */
  readonly isExcluded?: boolean
}

/**
 * Help for the user. `hint` is an allowed value or an action. `first` is the path of the earlier
 * value with which the wrong value conflicts.
 */
type Help =
  | { readonly hint: string; readonly first?: Path | undefined }
  | { readonly hint?: string; readonly first: Path }

/** One problem of the configuration. Its texts never contain a secret. */
export type SettingsProblem = Wrong & Help

/**
 * Maximum number of problems reported for one configuration. Further problems are reported after
 * these are fixed.
 */
export const maxProblems = 100

/**
 * Replaces the path when the whole file is wrong. It cannot be confused with a key, because a key
 * with a space is quoted.
 */
export const wholeFile = 'the file'

/**
 * Replaces an unknown key in a printed path, because a syntax error can turn a secret into a key.
 */
export const maskedKey = '***'

/**
 * Formats a path as `destinations[0].webhooks[5]`. A key is written in quotes unless it consists of
 * letters, digits, `_`, `$` and `-`.
 */
export function formatPath(path: Path): string {
  return path
    .map(part => {
      if (typeof part === 'number') return `[${part}]`
      return part === maskedKey || /^[\w$-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`
    })
    .join('')
    .replace(/^\./, '')
}

/** A problem in one line, without its hint. */
export const problemLine = ({ path, message }: Pick<Wrong, 'path' | 'message'>): string =>
  `${formatPath(path)} ${message}`.trim()

/** The value at a path of a parsed document; `undefined` when there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Record<string | number, unknown>)[part]
  }
  return found
}
