import { basename, dirname, join } from 'node:path'
import { placeholderOfEntry } from '../../core/delivery/invalid-destination-placeholder.ts'
import { placeholderDestination } from '../../core/delivery/route.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import { type SettingsProblem, valueAt } from '../../core/settings/settings-problem.ts'
import type { Draft } from '../../core/settings/validate.ts'
import { id as idField } from '../../core/settings/value-types.ts'
import { foreignIdMessage } from './destination-directory-boundaries.ts'
import type { ConfigFiles, DestinationFile } from './read-config-files.ts'

/** The configuration without the unusable files. `standIns` replace their destinations. */
export interface Reduced {
  readonly input: unknown
  /** The destinations that replace those of unusable files, by id. */
  readonly standIns: ReadonlyMap<string, Destination>
  readonly excluded: NonNullable<Settings['excluded']>
}

/**
 * Removes unusable `destinationsFrom` files, and adds a stand-in for the destination of each:
 * - its last valid destination in this process, also if its directory cannot be listed;
 * - otherwise, if the id in the file can be read, a placeholder, whose messages wait in retry
 *   topics;
 * - otherwise nothing.
 *
 * An audience, the canary or the notices may still name an id without a destination, which
 * validation would refuse. The id then gets a placeholder too, except with a config topic, because
 * the destination may be in this topic. The named ids are read from `wellFormed`, because in
 * `configFiles.input` a list from an environment variable is still one text.
 */
export function withoutFiles(
  configFiles: ConfigFiles,
  wellFormed: Draft['check']['wellFormed'],
  unusable: ReadonlySet<string>,
  lastGood: ReadonlyMap<string, Destination>,
): Reduced {
  const { input, parts, unlisted } = configFiles
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
  // Add last valid destinations first, so that no placeholder with the same id replaces one.
  for (const [file, destination] of lastGood) {
    const from = badByFile.get(file) ?? unlistedOf(file, configFiles)
    if (from !== undefined) add({ ...destination, sources: destination.sources.filter(isOpen(from, input)) })
  }
  for (const part of bad) if (!lastGood.has(part.file)) add(held(part, input))
  const hasConfigTopic = valueAt(input, ['operator', 'encryptionKeyFile']) !== undefined
  const missing = new Set(hasConfigTopic ? [] : referredTo(wellFormed).filter(id => !taken.has(id)))
  for (const id of missing) add(placeholderDestination(id))
  const stubs = [...standIns.keys()].map(id => stubOf(id, input))
  const destinations = [...own, ...usable.map(({ value }) => value), ...stubs]
  // An id in `missing` is named in the configuration, but no file with this id was found, so it
  // counts as one more excluded file. If the id of an unusable file cannot be read (`unnamed`),
  // this file may be the missing one, and `bad` already counts it.
  const files = bad.length + unlisted.length + (unnamed > 0 ? 0 : missing.size)
  return { input: { ...(input as object), destinations }, standIns, excluded: { files, unnamed } }
}

/**
 * Reports each usable file whose id belongs to a file in another directory that is unusable or
 * unreadable now. The last valid destination of that file stays in use and keeps the id.
 */
export function takenIds(
  configFiles: ConfigFiles,
  unusable: ReadonlySet<string>,
  lastGood: ReadonlyMap<string, Destination>,
): readonly SettingsProblem[] {
  const { parts, input } = configFiles
  const kept = [...lastGood].filter(([file]) => unusable.has(file) || unlistedOf(file, configFiles) !== undefined)
  const directoryOf = new Map<unknown, string>(kept.map(([file, { id }]) => [id, dirname(file)]))
  const own = listAt(input, ['destinations']).length - parts.length
  return parts.flatMap(({ file, value }, index) => {
    const directory = directoryOf.get(valueAt(value, ['id']))
    if (unusable.has(file) || directory === undefined || directory === dirname(file)) return []
    const hint = `choose another id: Hookline still uses a destination with this id from a file in ${directory} that is now invalid or cannot be read`
    return [{ path: ['destinations', own + index, 'id'], message: foreignIdMessage, hint }]
  })
}

/** The entry of the file's directory in `unlisted`; `undefined` when the directory was listed. */
export const unlistedOf = (file: string, { unlisted }: ConfigFiles): ConfigFiles['unlisted'][number] | undefined =>
  unlisted.find(({ directory }) => join(directory, basename(file)) === file)

/** Returns a filter for configured source ids that destinations of this directory may use. */
function isOpen({ allowedSources }: Pick<DestinationFile, 'allowedSources'>, input: unknown) {
  const known = new Set(listAt(input, ['sources']).map(source => valueAt(source, ['id'])))
  return (source: unknown): source is string =>
    known.has(source) && (allowedSources === undefined || allowedSources.includes(source))
}

/**
 * A placeholder for the destination of an unusable file, with its id and permitted sources. Its
 * messages wait in retry topics. `undefined` when the id cannot be read.
 */
function held(part: DestinationFile, input: unknown): Destination | undefined {
  const from = part.value ?? part.outline
  const { data: id } = idField.safeParse(valueAt(from, ['id']))
  if (id === undefined) return undefined
  const sources = valueAt(from, ['sources'])
  const open = Array.isArray(sources) ? [...new Set(sources.filter(isOpen(part, input)))] : []
  return placeholderOfEntry(id, open, from)
}

/**
 * A minimal destination with which the configuration passes validation. The destination in
 * `standIns` replaces it afterwards.
 */
function stubOf(id: string, input: unknown): object {
  const source = valueAt(input, ['sources', 0, 'id'])
  const port = valueAt(input, ['network', 'ports', 0]) ?? 443
  return { id, sources: [source], webhooks: [{ url: `https://held.invalid:${port}` }] }
}

function referredTo({ audiences, canary, notices }: Draft['check']['wellFormed']): readonly string[] {
  const ofAudiences = audiences?.list?.flatMap(audience => audience?.destinations ?? []) ?? []
  return [...ofAudiences, canary?.destination, notices?.destination].filter(name => name !== undefined)
}

function listAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const list = valueAt(value, path)
  return Array.isArray(list) ? list : []
}
