import { join } from 'node:path'
import { listIn } from '../../core/settings/check-against-schema.ts'
import { formatPath, type Path, type SettingsProblem, valueAt } from '../../core/settings/settings-problem.ts'
import type { TextWithVariables } from './yaml-to-plain-value.ts'

/** One entry of `destinationsFrom`. */
export interface Directory {
  /** The configuration key that names the directory. */
  readonly path: Path
  readonly name: string
  /** The source ids that destinations of the directory may use; `undefined` means all. */
  readonly sources: readonly unknown[] | undefined
}

/** The directories of `destinationsFrom`, without invalid entries, which the schema reports. */
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

/**
 * Converts each `destinationsFrom[].sources` to a list if an environment variable has set it as one
 * text. For other keys, the schema validation does this, but only after the directories are read.
 */
export function withSourceLists(root: unknown, substituted: readonly TextWithVariables[]): unknown {
  const fromEnvironment = new Set(substituted.map(({ path }) => formatPath(path)))
  const listAt = (index: number, sources: unknown): unknown =>
    typeof sources === 'string' && fromEnvironment.has(formatPath(['destinationsFrom', index, 'sources']))
      ? (listIn(sources) ?? sources)
      : sources
  return changed(root, {
    destinationsFrom: from =>
      Array.isArray(from)
        ? from.map((entry, index) => changed(entry, { sources: sources => listAt(index, sources) }))
        : from,
  })
}

/**
 * Marks a file name as relative to a directory: puts the directory's index and a NUL before the
 * name. No other file name in the configuration contains a NUL.
 */
const markWithDirectory = (directory: number, name: string): string => `${directory}\0${name}`

/**
 * The path of a file that the configuration names. If `markWithDirectory` has marked the name, also
 * the directory that must contain the file.
 */
export function placeOfFile(
  name: string,
  directories: readonly string[],
  resolveName: (name: string) => string,
): readonly [path: string, within?: string] {
  const [, index, inside] = /^(\d+)\0(.*)$/s.exec(name) ?? []
  const directory = directories[Number(index)]
  return directory === undefined || inside === undefined ? [resolveName(name)] : [join(directory, inside), directory]
}

/** Returns the destination with all its file names marked by `markWithDirectory`. */
export function withMarkedFileNames(destination: unknown, directory: number): unknown {
  const named = (name: unknown): unknown =>
    typeof name === 'string' && name !== '' ? markWithDirectory(directory, name) : name
  const oneOrSeveral = (names: unknown): unknown => (Array.isArray(names) ? names.map(named) : named(names))
  return changed(destination, {
    sharedSecretFile: oneOrSeveral,
    signingKeyFile: oneOrSeveral,
    auth: auth => changed(auth, { oauth2: oauth2 => changed(oauth2, { clientSecretFile: named }) }),
    tls: tls => changed(tls, { clientCertFile: named, clientKeyFile: named, caFile: named }),
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

/**
 * Returns a copy of a mapping with changed values. If `each` is given, it changes all values.
 * Otherwise, each function in `by` changes the value with the same key.
 */
function changed(value: unknown, by: Readonly<Record<string, Change>> | undefined, each?: Change): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, inner]: [string, unknown]) => {
    const change = each ?? (by !== undefined && Object.hasOwn(by, key) ? by[key] : undefined)
    return [key, change === undefined ? inner : change(inner)] as const
  })
  return Object.fromEntries(entries)
}

/** A file with one destination, in a directory of `destinationsFrom`. */
interface FileInDirectory {
  readonly prefix: Path
  readonly directory: number
  readonly value: unknown
  readonly document: { readonly outline?: unknown }
}

export const foreignIdMessage = 'is also the id of a destination in another directory'
const idOf = ({ value, document }: FileInDirectory): unknown => valueAt(value ?? document.outline, ['id'])

/**
 * Reports a destination with a source that its directory may not use, or with the id of a
 * destination in an earlier directory.
 */
export function boundaryProblems(
  files: readonly FileInDirectory[],
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
                message: 'destinations of this directory must not use this source',
                hint: 'remove the source from this list, or add it to "sources" of this directory under "destinationsFrom"',
              },
            ],
    )
    const id = idOf(file)
    const other = typeof id === 'string' && byId.get(id)?.find(each => each.directory < directory)
    const twin = other
      ? [
          {
            path: [...prefix, 'id'],
            message: foreignIdMessage,
            hint: 'choose another id here; if files in two directories have the same id, Hookline uses the file of the directory that comes first in "destinationsFrom"',
            first: [...other.prefix, 'id'],
          },
        ]
      : []
    return [...foreign, ...twin]
  })
}
