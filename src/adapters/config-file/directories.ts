import { join } from 'node:path'
import { type Path, type SettingsProblem, valueAt } from '../../core/settings/problem.ts'

/** One entry of `destinationsFrom`. */
export interface Directory {
  /** Where the configuration names it. */
  readonly path: Path
  readonly name: string
  /** Ids of the sources that its destinations may name; undefined: all. */
  readonly sources: readonly unknown[] | undefined
}

/** The directories of `destinationsFrom`; what has another form the schema refuses. */
export function directoriesOf(root: unknown): readonly Directory[] {
  const from = valueAt(root, ['destinationsFrom'])
  if (typeof from === 'string')
    return from === '' ? [] : [{ path: ['destinationsFrom'], name: from, sources: undefined }]
  if (!Array.isArray(from)) return []
  return from.flatMap((entry: unknown, index): readonly Directory[] => {
    const name = valueAt(entry, ['directory'])
    const sources = valueAt(entry, ['sources'])
    if (typeof name !== 'string' || name === '') return []
    return [
      { path: ['destinationsFrom', index, 'directory'], name, sources: Array.isArray(sources) ? sources : undefined },
    ]
  })
}

/** The name of a file that a destination of a directory names: no other file of the configuration has one like it. */
const bounded = (directory: number, name: string): string => `${directory}\0${name}`

/** Where a named file is, and the directory that it must be below. */
export function placeOfFile(
  name: string,
  directories: readonly string[],
  besides: (name: string) => string,
): readonly [path: string, within?: string] {
  const [, index, inside] = /^(\d+)\0(.*)$/s.exec(name) ?? []
  const directory = directories[Number(index)]
  return directory === undefined || inside === undefined ? [besides(name)] : [join(directory, inside), directory]
}

/** A destination whose names of files are those below a directory. */
export function withBoundedFiles(destination: unknown, directory: number): unknown {
  const named = (name: unknown): unknown => (typeof name === 'string' && name !== '' ? bounded(directory, name) : name)
  return changed(destination, {
    sharedSecretFile: names => (Array.isArray(names) ? names.map(named) : named(names)),
    webhooks: webhooks =>
      Array.isArray(webhooks)
        ? webhooks.map(webhook =>
            changed(webhook, {
              urlFile: named,
              headers: headers => changed(headers, undefined, value => changed(value, { file: named })),
            }),
          )
        : webhooks,
  })
}

type Change = (value: unknown) => unknown

/** A mapping with some of its values changed, or all of them; anything else as it is. */
function changed(value: unknown, by: Readonly<Record<string, Change>> | undefined, each?: Change): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, inner]: [string, unknown]) => {
    const change = each ?? (by !== undefined && Object.hasOwn(by, key) ? by[key] : undefined)
    return [key, change === undefined ? inner : change(inner)] as const
  })
  return Object.fromEntries(entries)
}

/** One file of a directory, as the rules between files see it. */
interface Filed {
  readonly prefix: Path
  readonly directory: number
  readonly value: unknown
  readonly document: { readonly outline?: unknown }
}

export const isForeignId = 'is also the id of a destination in another directory'
const idOf = ({ value, document }: Filed): unknown => valueAt(value ?? document.outline, ['id'])

/** What destinations of one directory must not do to those of another: take their sources or their ids. */
export function boundaryProblems(
  files: readonly Filed[],
  directories: readonly Directory[],
): readonly SettingsProblem[] {
  const byId = Map.groupBy(files, idOf)
  return files.flatMap((file): readonly SettingsProblem[] => {
    const { prefix, directory, value } = file
    const allowed = directories[directory]?.sources
    const sources = valueAt(value, ['sources'])
    const foreign = (allowed !== undefined && Array.isArray(sources) ? sources : []).flatMap(
      (source: unknown, index) =>
        allowed?.includes(source) === true
          ? []
          : [
              {
                path: [...prefix, 'sources', index],
                message: 'is not a source that this directory may name',
                hint: 'see destinationsFrom in the configuration file',
              },
            ],
    )
    const id = idOf(file)
    const other = typeof id === 'string' && byId.get(id)?.find(each => each.directory !== directory)
    const twin = other
      ? [
          {
            path: [...prefix, 'id'],
            message: isForeignId,
            first: [...other.prefix, 'id'],
          },
        ]
      : []
    return [...foreign, ...twin]
  })
}
