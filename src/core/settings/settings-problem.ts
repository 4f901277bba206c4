/** A place in the configuration: keys and list indexes from the top. */
export type Path = readonly (string | number)[]

interface Wrong {
  readonly path: Path
  /** The text after the path, for example `must be …` or `is missing`. */
  readonly message: string
  /** Set when the key is wrong, not its value. */
  readonly at?: 'key'
  /**
   * True if a change in a `destinationsFrom` directory can cause the problem in another file, for
   * example because a destination was deleted. Hookline then still uses the file with the problem.
   * Any other problem makes its file unusable.
   */
  readonly leavesFileUsable?: boolean
}

/** `hint`: an allowed value or an action. `first`: the path of the earlier value that conflicts. */
type Help =
  | { readonly hint: string; readonly first?: Path | undefined }
  | { readonly hint?: string; readonly first: Path }

/** A problem of the configuration. Its texts never contain a secret. */
export type SettingsProblem = Wrong & Help

/** Maximum number of problems reported for one configuration. */
export const maxProblems = 100

/**
 * Printed in place of the path if a problem concerns the whole file. No formatted path equals this
 * text, because `formatPath` quotes a key that contains a space.
 */
export const wholeFile = 'the file'

/** Printed in place of an unknown key, because a syntax error can turn a secret into a key. */
export const maskedKey = '***'

/**
 * Formats a path as `destinations[0].webhooks[5]`. A key with other characters than letters,
 * digits, `_`, `$` and `-` is quoted.
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

/** The value at a path of a parsed document, if any. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Record<string | number, unknown>)[part]
  }
  return found
}
