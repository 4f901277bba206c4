import { dirname, isAbsolute, join } from 'node:path'
import { type Path, type SettingsProblem, valueAt } from '../../core/settings/problem.ts'
import { boundaryProblems, directoriesOf, withBoundedFiles } from './directories.ts'
import type { Environment } from './environment.ts'
import { type ConfigDocument, type Place, readYaml } from './read-yaml.ts'
import { type ConfigSnapshot, misnamed, misnamedWithin } from './snapshot.ts'

export type { Environment } from './environment.ts'

/** One file of the configuration and what it is of the whole: `destinations[n]` for a file of `destinationsFrom`. */
interface Part {
  readonly file: string
  readonly prefix: Path
  readonly document: ConfigDocument
}

/** A file of `destinationsFrom`. */
export interface GatheredFile {
  readonly file: string
  /** Undefined: the file cannot be parsed; `outline` has the part before the mistake. */
  readonly value: unknown
  readonly outline: unknown
  /** Undefined: all. */
  readonly allowedSources: readonly unknown[] | undefined
}

interface UnlistedDirectory extends Pick<GatheredFile, 'allowedSources'> {
  readonly directory: string
}

interface FilePart extends Part, Omit<GatheredFile, 'outline'> {
  /** Its place in `directories`. */
  readonly directory: number
}

/** The configuration as it is written, whichever files it is spread over. */
export interface Gathered {
  /** The configuration file first. */
  readonly files: readonly string[]
  /** The files of `destinationsFrom`: the last of `destinations` in `input`, in this order. */
  readonly parts: readonly GatheredFile[]
  readonly directories: readonly string[]
  /** Those of them that were listed before, and now cannot be. */
  readonly unlisted: readonly UnlistedDirectory[]
  readonly input: unknown
  readonly substituted: readonly { readonly path: Path; readonly variables: readonly string[] }[]
  /** What was wrong with the form of the files. */
  readonly problems: readonly LocatedProblem[]
  locate(problem: SettingsProblem): LocatedProblem
}

export interface LocatedProblem extends Place {
  readonly file: string
  /** Within the whole. What stands there and within is not told of again if nothing could be read there. */
  readonly at: Path
  /** Within the file. */
  readonly path: Path
  readonly message: string
  readonly hint: string
  readonly isExcluded?: boolean | undefined
}

/** File names in the configuration are relative to the configuration file. */
export function besides(config: string, name: string): string {
  return isAbsolute(name) ? name : join(dirname(config), name)
}

/** Reads the configuration file and the files of `destinationsFrom`, one a destination. `known`: all paths of the last load. */
export async function gather(
  look: ConfigSnapshot,
  path: string,
  env: Environment,
  known: readonly string[] = [],
): Promise<Gathered> {
  const main: Part = { file: path, prefix: [], document: await readDocument(look, path, { env }) }
  const root = main.document.value
  const own = valueAt(root, ['destinations']) ?? []
  const directories = directoriesOf(root)
  // Of a wrong type: the schema will say so.
  if (directories.length === 0 || !Array.isArray(own)) return gatheredFrom([main], root, [])

  const problems: SettingsProblem[] = []
  const files: FilePart[] = []
  const unlisted: UnlistedDirectory[] = []
  for (const [index, { name: given, path: at, sources }] of directories.entries()) {
    const directory = besides(path, given)
    const listed = await look.names(directory)
    if (listed.kind === 'unreadable') {
      const isExcluded = known.includes(directory)
      problems.push({ path: at, message: `names a path that ${listed.message}`, hint: listed.hint, isExcluded })
      if (isExcluded) unlisted.push({ directory, allowedSources: sources })
      continue
    }
    // Hidden names: `..data` of a mounted ConfigMap, swap files of editors.
    for (const name of listed.names.filter(candidate => /^[^.].*\.(yaml|yml|json)$/.test(candidate))) {
      const file = join(directory, name)
      const prefix = ['destinations', own.length + files.length]
      const document = await readDocument(look, file, { within: directory })
      const value = withBoundedFiles(document.value, index)
      files.push({ file, prefix, document, value, directory: index, allowedSources: sources })
    }
  }
  problems.push(...boundaryProblems(files, directories))
  const destinations = [...own, ...files.map(({ value }) => value)]
  const input = { ...(root as object), destinations }
  return gatheredFrom([main, ...files], input, problems, {
    files,
    directories: directories.map(({ name }) => besides(path, name)),
    unlisted,
  })
}

/** A file outside of any directory takes from the environment, one within a directory does not. */
async function readDocument(
  look: ConfigSnapshot,
  path: string,
  from: { readonly env: Environment } | { readonly within: string },
): Promise<ConfigDocument> {
  const content = await ('env' in from ? look.text(path) : look.text(path, from.within))
  if (content.kind === 'read') return readYaml(content.text, 'env' in from ? from.env : undefined)
  const place = { line: 1, column: 1 }
  const { message } = content
  // Its own name is relative to nothing that stands in it.
  const hint = [misnamed, misnamedWithin].includes(content.hint) ? 'make it, or mend its name' : content.hint
  return { value: undefined, problems: [{ ...place, path: [], message, hint }], substituted: [], placeOf: () => place }
}

function gatheredFrom(
  parts: readonly Part[],
  input: unknown,
  problems: readonly SettingsProblem[],
  from: Pick<Gathered, 'directories' | 'unlisted'> & { readonly files: readonly FilePart[] } = {
    files: [],
    directories: [],
    unlisted: [],
  },
): Gathered {
  const [main, ...others] = parts as [Part, ...Part[]]
  const byPlace = new Map(others.map(part => [part.prefix[1], part]))
  const partOf = ([list, place]: Path): Part => (list === 'destinations' && byPlace.get(place)) || main

  function locate({ path, message, hint, first, at, isExcluded }: SettingsProblem): LocatedProblem {
    const { file, prefix, document } = partOf(path)
    const within = path.slice(prefix.length)
    const told = [hint, first && `first at ${position(first)}`].filter(Boolean).join(', ')
    return { file, ...document.placeOf(within, at), at: path, path: within, message, hint: told, isExcluded }
  }

  function position(path: Path): string {
    const { file, prefix, document } = partOf(path)
    const { line, column } = document.placeOf(path.slice(prefix.length))
    return `${file}:${line}:${column}`
  }

  const ofForm = parts.flatMap(({ file, prefix, document }) =>
    document.problems.map(problem => ({
      ...problem,
      file,
      at: document.value === undefined ? prefix : [...prefix, ...problem.path],
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

export function startsWith(path: Path, prefix: Path): boolean {
  return prefix.every((part, index) => path[index] === part)
}
