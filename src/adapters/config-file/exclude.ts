import { basename, dirname, join } from 'node:path'
import { heldDestination } from '../../core/delivery/route.ts'
import { id as idField } from '../../core/settings/fields.ts'
import { type SettingsProblem, valueAt } from '../../core/settings/problem.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import { isForeignId } from './directories.ts'
import type { Gathered, GatheredFile } from './read-sources.ts'

/** The configuration without the files that cannot be used, and what stands in for their destinations. */
export interface Reduced {
  readonly input: unknown
  /** By id. */
  readonly standIns: ReadonlyMap<string, Destination>
  readonly excluded: NonNullable<Settings['excluded']>
}

/**
 * For each unusable file, and each one of an unlisted directory: the destination that it had when it was last good,
 * while this process lives; else, if its id can be read, one that is held; else none. An audience or canary that names a
 * destination of no usable file gets a held destination, too.
 */
export function withoutFiles(
  gathered: Gathered,
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
  // A destination that was good before keeps its id when a new unusable file names the same id.
  for (const [file, destination] of lastGood) {
    const from = badByFile.get(file) ?? unlistedOf(file, gathered)
    if (from !== undefined) add({ ...destination, sources: destination.sources.filter(isOpen(from, input)) })
  }
  for (const part of bad) if (!lastGood.has(part.file)) add(held(part, input))
  const missing = new Set(referredTo(input).filter(id => !taken.has(id)))
  for (const id of missing) add(heldDestination(id))
  const stubs = [...standIns.keys()].map(id => stubOf(id, input))
  const destinations = [...own, ...usable.map(({ value }) => value), ...stubs]
  // A missing destination may be that of a file without a readable id, which is counted.
  const files = bad.length + unlisted.length + (unnamed > 0 ? 0 : missing.size)
  return { input: { ...(input as object), destinations }, standIns, excluded: { files, unnamed } }
}

/** Files that take the id which an unusable file of another directory had when it was last good. */
export function foreignIds(
  gathered: Gathered,
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
    const hint = `take another id: ${directory} had it first, and what it has now cannot be used`
    return [{ path: ['destinations', own + index, 'id'], message: isForeignId, hint }]
  })
}

/** The directory of a file, if it can no longer be listed. */
export const unlistedOf = (file: string, { unlisted }: Gathered): Gathered['unlisted'][number] | undefined =>
  unlisted.find(({ directory }) => join(directory, basename(file)) === file)

/** Whether there is a source of an id, and the destinations of a directory may name it. */
function isOpen({ allowedSources }: Pick<GatheredFile, 'allowedSources'>, input: unknown) {
  const known = new Set(listAt(input, ['sources']).map(source => valueAt(source, ['id'])))
  return (source: unknown): source is string =>
    known.has(source) && (allowedSources === undefined || allowedSources.includes(source))
}

/** A destination of which the id can be read, with those of its sources that it may have. */
function held(part: GatheredFile, input: unknown): Destination | undefined {
  const from = part.value ?? part.outline
  const { data: id } = idField.safeParse(valueAt(from, ['id']))
  if (id === undefined) return undefined
  const sources = valueAt(from, ['sources'])
  return heldDestination(id, Array.isArray(sources) ? [...new Set(sources.filter(isOpen(part, input)))] : [])
}

/** Passes every rule; its settings are the stand-in's. */
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
