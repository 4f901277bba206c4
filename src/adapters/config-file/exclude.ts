import { basename, dirname, join } from 'node:path'
import { placeholderDestination } from '../../core/delivery/route.ts'
import { id as idField } from '../../core/settings/fields.ts'
import { type SettingsProblem, valueAt } from '../../core/settings/problem.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import { foreignIdMessage } from './destinations-from.ts'
import type { ConfigSources, SourceFile } from './read-sources.ts'

/** The configuration without the unusable files, and what replaces their destinations. */
export interface Reduced {
  readonly input: unknown
  /** The destinations that replace those of unusable files, by destination id. */
  readonly standIns: ReadonlyMap<string, Destination>
  readonly excluded: NonNullable<Settings['excluded']>
}

/**
 * Removes unusable files, and files of directories that cannot be listed, and adds stand-ins for
 * their destinations:
 * - The destination that the file had when it was last valid in this process.
 * - Otherwise, if its id can be read, a held destination: its messages wait in retry topics.
 * - Otherwise none.
 * It also adds a held destination for each one that an audience or the canary names and that no
 * usable file has.
 */
export function withoutFiles(
  gathered: ConfigSources,
  unusable: ReadonlySet<string>,
  lastGood: ReadonlyMap<string, Destination>,
): Reduced {
  const { input, parts, unlisted } = gathered
  const given = valueAt(input, ['destinations']) as readonly unknown[]
  const own = given.slice(0, given.length - parts.length)
  const usable = parts.filter(({ file }) => !unusable.has(file))
  const taken = new Set([...own, ...usable.map(({ value }) => value)].map(value => valueAt(value, ['id'])))
  const standIns = new Map<string, Destination>()
  let unnamed = 0
  const add = (destination: Destination | undefined): void => {
    if (destination === undefined) unnamed++
    else if (!taken.has(destination.id)) {
      taken.add(destination.id)
      standIns.set(destination.id, destination)
    }
  }
  const bad = parts.filter(({ file }) => unusable.has(file))
  const badByFile = new Map(bad.map(part => [part.file, part]))
  // A destination that was valid before keeps its id, also when a new unusable file uses the same
  // id.
  for (const [file, destination] of lastGood) {
    const from = badByFile.get(file) ?? unlistedOf(file, gathered)
    if (from !== undefined) add({ ...destination, sources: destination.sources.filter(isOpen(from, input)) })
  }
  for (const part of bad) if (!lastGood.has(part.file)) add(held(part, input))
  const missing = new Set(referredTo(input).filter(id => !taken.has(id)))
  for (const id of missing) add(placeholderDestination(id))
  const stubs = [...standIns.keys()].map(id => stubOf(id, input))
  const destinations = [...own, ...usable.map(({ value }) => value), ...stubs]
  // A missing destination may be that of a file without a readable id, which `unnamed` counts. It
  // is then not counted again.
  const files = bad.length + unlisted.length + (unnamed > 0 ? 0 : missing.size)
  return { input: { ...(input as object), destinations }, standIns, excluded: { files, unnamed } }
}

/**
 * Reports files that use an id which belongs to another directory: an unusable file of that
 * directory had the id when it was last valid.
 */
export function takenIds(
  gathered: ConfigSources,
  unusable: ReadonlySet<string>,
  lastGood: ReadonlyMap<string, Destination>,
): readonly SettingsProblem[] {
  const { parts, input } = gathered
  const kept = [...lastGood].filter(([file]) => unusable.has(file) || unlistedOf(file, gathered) !== undefined)
  const directoryOf = new Map<unknown, string>(kept.map(([file, { id }]) => [id, dirname(file)]))
  const own = listAt(input, ['destinations']).length - parts.length
  return parts.flatMap(({ file, value }, index) => {
    const directory = directoryOf.get(valueAt(value, ['id']))
    if (unusable.has(file) || directory === undefined || directory === dirname(file)) return []
    const hint = `choose another id: ${directory} used it first, and its file is invalid or missing now`
    return [{ path: ['destinations', own + index, 'id'], message: foreignIdMessage, hint }]
  })
}

/** The entry of a file's directory, if that directory can no longer be listed. */
export const unlistedOf = (file: string, { unlisted }: ConfigSources): ConfigSources['unlisted'][number] | undefined =>
  unlisted.find(({ directory }) => join(directory, basename(file)) === file)

/**
 * Returns a filter for source ids that are configured and that destinations of this directory may
 * use.
 */
function isOpen({ allowedSources }: Pick<SourceFile, 'allowedSources'>, input: unknown) {
  const known = new Set(listAt(input, ['sources']).map(source => valueAt(source, ['id'])))
  return (source: unknown): source is string =>
    known.has(source) && (allowedSources === undefined || allowedSources.includes(source))
}

/**
 * A held destination for a file whose id can be read, with the sources that it names and may use.
 */
function held(part: SourceFile, input: unknown): Destination | undefined {
  const from = part.value ?? part.outline
  const { data: id } = idField.safeParse(valueAt(from, ['id']))
  if (id === undefined) return undefined
  const sources = valueAt(from, ['sources'])
  return placeholderDestination(id, Array.isArray(sources) ? [...new Set(sources.filter(isOpen(part, input)))] : [])
}

/** A valid placeholder with this id, to pass validation. The stand-in replaces it afterwards. */
function stubOf(id: string, input: unknown): object {
  const source = valueAt(input, ['sources', 0, 'id'])
  const port = valueAt(input, ['network', 'ports', 0]) ?? 443
  return { id, sources: [source], webhooks: [{ url: `https://held.invalid:${port}` }] }
}

function referredTo(input: unknown): readonly string[] {
  const names = [
    ...listAt(input, ['audiences', 'list']).flatMap(audience => listAt(audience, ['destinations'])),
    valueAt(input, ['canary', 'destination']),
  ]
  return names.filter(name => typeof name === 'string')
}

function listAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const list = valueAt(value, path)
  return Array.isArray(list) ? list : []
}
