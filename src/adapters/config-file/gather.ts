import { dirname, isAbsolute, join } from 'node:path'
import { type Path, type SettingsProblem, valueAt } from '../../core/settings/problem.ts'
import { type Look, misnamed } from './look.ts'
import { type ConfigDocument, type Place, readYaml } from './read-yaml.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** One file of the configuration and what it is of the whole: `destinations[n]` for a file of `destinationsFrom`. */
interface Part {
  readonly file: string
  readonly prefix: Path
  readonly document: ConfigDocument
}

/** The configuration as it is written, whichever files it is spread over. */
export interface Gathered {
  /** The configuration file first. */
  readonly files: readonly string[]
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
}

/** File names in the configuration are relative to the configuration file. */
export function besides(config: string, name: string): string {
  return isAbsolute(name) ? name : join(dirname(config), name)
}

/** Reads the configuration file and, when it has `destinationsFrom`, one file a destination of that directory. */
export async function gather(look: Look, path: string, env: Environment): Promise<Gathered> {
  const main: Part = { file: path, prefix: [], document: await readDocument(look, path, env) }
  const root = main.document.value
  const from = valueAt(root, ['destinationsFrom'])
  const own = valueAt(root, ['destinations']) ?? []
  // Of a wrong type: the schema will say so.
  if (typeof from !== 'string' || from === '' || !Array.isArray(own)) return gatheredFrom([main], root, [])

  const directory = await look.names(besides(path, from))
  if (directory.kind === 'unreadable') {
    const message = `${JSON.stringify(from)} ${directory.message}`
    return gatheredFrom([main], root, [{ path: ['destinationsFrom'], message, hint: directory.hint }])
  }
  const parts: Part[] = []
  // Hidden names: `..data` of a mounted ConfigMap, swap files of editors.
  for (const name of directory.names.filter(candidate => /^[^.].*\.(yaml|yml|json)$/.test(candidate))) {
    const file = join(besides(path, from), name)
    const prefix = ['destinations', own.length + parts.length]
    parts.push({ file, prefix, document: await readDocument(look, file, env) })
  }
  const destinations = [...own, ...parts.map(part => part.document.value)]
  return gatheredFrom([main, ...parts], { ...(root as object), destinations }, [])
}

async function readDocument(look: Look, path: string, env: Environment): Promise<ConfigDocument> {
  const content = await look.text(path)
  if (content.kind === 'read') return readYaml(content.text, env)
  const place = { line: 1, column: 1 }
  const { message } = content
  // Its own name is relative to nothing that stands in it.
  const hint = content.hint === misnamed ? 'make it, or mend its name' : content.hint
  return { value: undefined, problems: [{ ...place, path: [], message, hint }], substituted: [], placeOf: () => place }
}

function gatheredFrom(parts: readonly Part[], input: unknown, problems: readonly SettingsProblem[]): Gathered {
  const [main, ...others] = parts as [Part, ...Part[]]
  const partOf = (path: Path): Part => others.find(part => startsWith(path, part.prefix)) ?? main

  function locate({ path, message, hint, first, at }: SettingsProblem): LocatedProblem {
    const { file, prefix, document } = partOf(path)
    const within = path.slice(prefix.length)
    const told = [hint, first && `first at ${position(first)}`].filter(Boolean).join(', ')
    return { file, ...document.placeOf(within, at), at: path, path: within, message, hint: told }
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
