import { basename, dirname, join } from 'node:path'
import { placeholderOfEntry } from '../../core/delivery/invalid-destination-placeholder.ts'
import { placeholderDestination } from '../../core/delivery/route.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import { type SettingsProblem, valueAt } from '../../core/settings/settings-problem.ts'
import type { Draft } from '../../core/settings/validate.ts'
import { id as idField } from '../../core/settings/value-types.ts'
import { foreignIdMessage } from './destination-directory-boundaries.ts'
import type { ConfigFiles, DestinationFile } from './read-config-files.ts'

/**
 * The configuration without the unusable files. `standIns` replace the destinations of these files.
 */
export interface Reduced {
  readonly input: unknown
  /** The destinations that replace those of unusable files, by destination id. */
  readonly standIns: ReadonlyMap<string, Destination>
  readonly excluded: NonNullable<Settings['excluded']>
}

/**
 * Removes unusable `destinationsFrom` files from the configuration, and adds a stand-in for the
 * destination of each of these files:
 * - If the file was valid before in this process: its last valid destination. This also applies to
 *   the files of a directory that cannot be listed.
 * - Otherwise, if the id in the file can be read: a placeholder with this id. Its messages wait in
 *   retry topics.
 * - Otherwise: nothing.
 *
 * After that, an audience, the canary or the notices may still name an id without a destination.
 * Validation would refuse this id, so a placeholder with the id is added. The exception is an
 * installation with a config topic: the destination may be in this topic, and a placeholder would
 * replace it. The named ids are read from `wellFormed` and not from `configFiles.input`, in which a
 * list from an environment variable is still one text.
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
  // Last valid destinations are added before placeholders. So a placeholder for a new unusable file
  // with the same id does not replace a last valid destination.
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
  // The number of excluded files. An id in `missing` is named in the configuration, but no file
  // with this id was found, so it counts as one more excluded file. The exception: if the id of an
  // unusable file cannot be read (`unnamed`), this file may be the missing one. `bad` already
  // counts this file, so `missing` is not counted.
  const files = bad.length + unlisted.length + (unnamed > 0 ? 0 : missing.size)
  return { input: { ...(input as object), destinations }, standIns, excluded: { files, unnamed } }
}

/**
 * Reports each usable file whose destination has an id that already belongs to a file in another
 * directory. That other file had the id when it was last valid. Now it is unusable or cannot be
 * read, but its last valid destination stays in use and keeps the id.
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

/**
 * Returns the entry of the file's directory in `unlisted`; `undefined` when the directory was
 * listed.
 */
export const unlistedOf = (file: string, { unlisted }: ConfigFiles): ConfigFiles['unlisted'][number] | undefined =>
  unlisted.find(({ directory }) => join(directory, basename(file)) === file)

/**
 * Returns a filter for source ids that are configured and that destinations of this directory may
 * use.
 */
function isOpen({ allowedSources }: Pick<DestinationFile, 'allowedSources'>, input: unknown) {
  const known = new Set(listAt(input, ['sources']).map(source => valueAt(source, ['id'])))
  return (source: unknown): source is string =>
    known.has(source) && (allowedSources === undefined || allowedSources.includes(source))
}

/**
 * A placeholder for the destination of an unusable file: its messages wait in retry topics. It has
 * the id of the destination, and the sources that the file names and may use. `undefined` when the
 * id cannot be read.
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
 * A minimal valid destination with this id, with which the configuration passes validation. The
 * destination in `standIns` replaces it afterwards.
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
