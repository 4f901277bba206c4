import { dirname, isAbsolute, join } from 'node:path'
import type { Objection } from '../../core/invalid-value-message-and-hint.ts'
import { type Path, type SettingsProblem, valueAt } from '../../core/settings/settings-problem.ts'
import {
  boundaryProblems,
  directoriesOf,
  withMarkedFileNames,
  withSourceLists,
} from './destination-directories-and-allowed-sources.ts'
import { type CountToken, limitTokens, maxFiles, tooManyFiles } from './directory-limits.ts'
import type { Environment } from './environment-substitution.ts'
import { type ConfigSnapshot, missingFileHint, missingNestedFileHint } from './read-files-and-detect-changes.ts'
import { type ConfigDocument, type Place, readYaml } from './read-yaml.ts'

export type { Environment } from './environment-substitution.ts'

/**
 * A file of the configuration. `prefix` is the path of the file's content in the whole
 * configuration: `destinations[n]`, or empty for the configuration file itself.
 */
interface Part {
  readonly file: string
  readonly prefix: Path
  readonly document: ConfigDocument
}

/** A file with one destination, in a directory of `destinationsFrom`. */
export interface DestinationFile {
  readonly file: string
  /**
   * The content of the file; `undefined` when it cannot be parsed. `outline` then has what could be
   * read.
   */
  readonly value: unknown
  readonly outline: unknown
  /** The sources that the destination may use; `undefined` means all. */
  readonly allowedSources: readonly unknown[] | undefined
}

interface UnlistedDirectory extends Pick<DestinationFile, 'allowedSources'> {
  readonly directory: string
}

interface FilePart extends Part, Omit<DestinationFile, 'outline'> {
  /** Index in `ConfigFiles.directories`. */
  readonly directory: number
}

/** All configuration files, merged into one, before validation. */
export interface ConfigFiles {
  /** The configuration file is the first. */
  readonly files: readonly string[]
  /**
   * The `destinationsFrom` files. Their destinations are the last entries of `input.destinations`,
   * in the same order.
   */
  readonly parts: readonly DestinationFile[]
  readonly directories: readonly string[]
  /**
   * The directories that cannot be listed now, but could be listed earlier. Their last valid
   * destinations stay in use.
   */
  readonly unlisted: readonly UnlistedDirectory[]
  readonly input: unknown
  readonly substituted: readonly { readonly path: Path; readonly variables: readonly string[] }[]
  /**
   * Problems found before validation: syntax errors, directories that cannot be listed, and
   * destinations with a source or an id that their directory may not use.
   */
  readonly problems: readonly LocatedProblem[]
  locate(problem: SettingsProblem): LocatedProblem
}

export interface LocatedProblem extends Place {
  readonly file: string
  /**
   * The key of the problem in the whole configuration. If the value of this key could not be read,
   * Hookline reports no further problems of the value or of its parts.
   */
  readonly pathInConfiguration: Path
  /** The key of the problem in the content of `file`. */
  readonly pathInFile: Path
  readonly message: string
  readonly hint: string
  readonly leavesFileUsable?: boolean | undefined
}

/** A relative name is relative to the directory of the configuration file. */
export function resolveFileName(config: string, name: string): string {
  return isAbsolute(name) ? name : join(dirname(config), name)
}

/**
 * Reads the configuration file and its `destinationsFrom` files. `known` has the paths of the files
 * and directories of the last successful load. If a known directory cannot be listed now, its
 * destinations stay in use.
 */
export async function readConfigFiles(
  snapshot: ConfigSnapshot,
  path: string,
  env: Environment,
  known: ReadonlySet<string> = new Set(),
): Promise<ConfigFiles> {
  const main: Part = { file: path, prefix: [], document: await readDocument(snapshot, path, { env }) }
  const root = withSourceLists(main.document.value, main.document.substituted)
  const own = valueAt(root, ['destinations']) ?? []
  const directories = directoriesOf(root)
  // The schema reports a wrong type of `destinations` or `destinationsFrom` later.
  if (directories.length === 0 || !Array.isArray(own)) return configFilesFrom([main], root, [])

  const problems: SettingsProblem[] = []
  const files: FilePart[] = []
  const unlisted: UnlistedDirectory[] = []
  for (const [index, { name: given, path: at, sources }] of directories.entries()) {
    const directory = resolveFileName(path, given)
    const listed = await snapshot.names(directory)
    if (listed.kind === 'unreadable') {
      const leavesFileUsable = known.has(directory)
      problems.push({ path: at, message: `names a path that ${listed.message}`, hint: listed.hint, leavesFileUsable })
      if (leavesFileUsable) unlisted.push({ directory, allowedSources: sources })
      continue
    }
    const limitFile = limitTokens()
    for (const [position, name] of listed.names.entries()) {
      const file = join(directory, name)
      // Each file beyond `maxFiles` is a problem. Skip these files, because 100,000 problems would
      // block the process for seconds. Keep the first of them, so that its problem reports the
      // excess. Also keep files in `known`, so that their last valid destinations stay in use.
      if (position > maxFiles && !known.has(file)) continue
      const prefix = ['destinations', own.length + files.length]
      const from = { within: directory, countToken: limitFile() }
      const document = position < maxFiles ? await readDocument(snapshot, file, from) : unread(tooManyFiles)
      const value = withMarkedFileNames(document.value, index)
      files.push({ file, prefix, document, value, directory: index, allowedSources: sources })
    }
  }
  problems.push(...boundaryProblems(files, directories))
  const destinations = [...own, ...files.map(({ value }) => value)]
  const input = { ...(root as object), destinations }
  return configFilesFrom([main, ...files], input, problems, {
    files,
    directories: directories.map(({ name }) => resolveFileName(path, name)),
    unlisted,
  })
}

/** Reads one file. Only the configuration file may use environment variables. */
async function readDocument(
  snapshot: ConfigSnapshot,
  path: string,
  from: { readonly env: Environment } | { readonly within: string; readonly countToken: CountToken },
): Promise<ConfigDocument> {
  const content = await ('env' in from ? snapshot.text(path) : snapshot.text(path, from.within))
  if (content.kind === 'read')
    return 'env' in from ? readYaml(content.text, from.env) : readYaml(content.text, undefined, from.countToken)
  const { message } = content
  // These two hints are about names in the configuration, but the configuration does not name this
  // file.
  const hint = [missingFileHint, missingNestedFileHint].includes(content.hint)
    ? 'create it, or correct its name'
    : content.hint
  return unread({ message, hint })
}

function unread(objection: Objection): ConfigDocument {
  const place = { line: 1, column: 1 }
  return { value: undefined, problems: [{ ...place, path: [], ...objection }], substituted: [], placeOf: () => place }
}

function configFilesFrom(
  parts: readonly Part[],
  input: unknown,
  problems: readonly SettingsProblem[],
  from: Pick<ConfigFiles, 'directories' | 'unlisted'> & { readonly files: readonly FilePart[] } = {
    files: [],
    directories: [],
    unlisted: [],
  },
): ConfigFiles {
  const [main, ...others] = parts as [Part, ...Part[]]
  const byPlace = new Map(others.map(part => [part.prefix[1], part]))
  const partOf = ([list, place]: Path): Part => (list === 'destinations' && byPlace.get(place)) || main

  function locate({ path, message, hint, first, at, leavesFileUsable }: SettingsProblem): LocatedProblem {
    const { file, prefix, document } = partOf(path)
    const pathInFile = path.slice(prefix.length)
    const fullHint = [hint, first && `see ${position(first, at)}`].filter(Boolean).join('; ')
    return {
      file,
      ...document.placeOf(pathInFile, at),
      pathInConfiguration: path,
      pathInFile,
      message,
      hint: fullHint,
      leavesFileUsable,
    }
  }

  function position(path: Path, at: SettingsProblem['at']): string {
    const { file, prefix, document } = partOf(path)
    const { line, column } = document.placeOf(path.slice(prefix.length), at)
    return `${file}:${line}:${column}`
  }

  const ofForm = parts.flatMap(({ file, prefix, document }) =>
    document.problems.map(({ path, ...problem }) => ({
      ...problem,
      file,
      pathInConfiguration: document.value === undefined ? prefix : [...prefix, ...path],
      pathInFile: path,
    })),
  )
  return {
    files: parts.map(({ file }) => file),
    parts: from.files.map(({ document, ...part }) => ({ ...part, outline: document.outline })),
    directories: from.directories,
    unlisted: from.unlisted,
    input,
    substituted: parts.flatMap(({ prefix, document }) =>
      document.substituted.map(({ path, variables }) => ({ path: [...prefix, ...path], variables })),
    ),
    problems: [...ofForm, ...problems.map(locate)],
    locate,
  }
}
