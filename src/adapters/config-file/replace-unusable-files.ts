import { basename, dirname, join } from 'node:path'
import { placeholderOfEntry } from '../../core/delivery/invalid-destination-placeholder.ts'
import { placeholderDestination } from '../../core/delivery/route.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import { type SettingsProblem, valueAt } from '../../core/settings/settings-problem.ts'
import type { Draft } from '../../core/settings/validate.ts'
import { id as idField } from '../../core/settings/value-types.ts'
import { foreignIdMessage } from './destination-directories-and-allowed-sources.ts'
import type { ConfigFiles, DestinationFile } from './read-config-files.ts'

/** The configuration in which stand-ins replace the destinations of unusable files. */
export interface ConfigWithStandIns {
  readonly input: unknown
  /** The stand-ins by id. `input` has only a minimal destination with each of these ids. */
  readonly standIns: ReadonlyMap<string, Destination>
  readonly excluded: NonNullable<Settings['excluded']>
}

/**
 * Replaces each unusable `destinationsFrom` file by a stand-in:
 * - its last valid destination;
 * - otherwise, if its id can be read, a placeholder, whose messages wait.
 *
 * If an audience, `canary` or `notices` names an id that no destination has, the id gets a
 * placeholder too, except with a config topic, because the topic may have the destination.
 *
 * The named ids and `network.ports` are read from `wellFormed` and not from `input`. In `input`, a
 * list that an environment variable has set is still one unparsed text.
 */
export function replaceUnusableFiles(
  configFiles: ConfigFiles,
  wellFormed: Draft['check']['wellFormed'],
  unusable: ReadonlySet<string>,
  lastGood: ReadonlyMap<string, Destination>,
): ConfigWithStandIns {
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
  // Add last valid destinations before placeholders, so that no placeholder takes the id of a last
  // valid destination.
  for (const [file, destination] of lastGood) {
    const from = badByFile.get(file) ?? unlistedOf(file, configFiles)
    if (from !== undefined)
      add({ ...destination, sources: destination.sources.filter(createAllowedSourceFilter(from, input)) })
  }
  for (const part of bad) if (!lastGood.has(part.file)) add(placeholderOfFile(part, input))
  const missing = new Set(hasConfigTopic(input) ? [] : referredTo(wellFormed).filter(id => !taken.has(id)))
  for (const id of missing) add(placeholderDestination(id))
  const port = wellFormed.network?.ports?.[0] ?? 443
  const stubs = [...standIns.keys()].map(id => stubOf(id, input, port))
  const destinations = [...own, ...usable.map(({ value }) => value), ...stubs]
  // Count each id in `missing` as one more excluded file. But if unusable files without a readable
  // id exist (`unnamed`), the id may belong to one of them, and `bad` already counts these files.
  const files = bad.length + unlisted.length + (unnamed > 0 ? 0 : missing.size)
  return { input: { ...(input as object), destinations }, standIns, excluded: { files, unnamed } }
}

/**
 * Reports each usable file whose id belongs to a destination of another directory. The file of that
 * destination is unusable, or its directory cannot be listed, so Hookline uses its last valid
 * version. The id stays with the directory, because directories may belong to different teams.
 * Another file of the same directory may use the id, for example a renamed file.
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
    const hint = `choose another id here; Hookline still uses the destination of ${directory}, although its file is now invalid or unreadable`
    return [{ path: ['destinations', own + index, 'id'], message: foreignIdMessage, hint }]
  })
}

/** The entry of the file's directory in `unlisted`; `undefined` when the directory was listed. */
export const unlistedOf = (file: string, { unlisted }: ConfigFiles): ConfigFiles['unlisted'][number] | undefined =>
  unlisted.find(({ directory }) => join(directory, basename(file)) === file)

const hasConfigTopic = (input: unknown): boolean => valueAt(input, ['operator', 'encryptionKeyFile']) !== undefined

/**
 * Returns a filter that keeps the source ids that destinations of a directory may use. With a
 * config topic, unknown ids pass, because the topic may have the source.
 */
function createAllowedSourceFilter({ allowedSources }: Pick<DestinationFile, 'allowedSources'>, input: unknown) {
  const known = new Set(listAt(input, ['sources']).map(source => valueAt(source, ['id'])))
  const mayExist = hasConfigTopic(input)
    ? (source: unknown): boolean => idField.safeParse(source).success
    : (source: unknown): boolean => known.has(source)
  return (source: unknown): source is string =>
    mayExist(source) && (allowedSources === undefined || allowedSources.includes(source))
}

/**
 * A placeholder with the id and the permitted sources of the destination in an unusable file.
 * Messages of the placeholder wait in retry topics. `undefined` when the id cannot be read.
 */
function placeholderOfFile(part: DestinationFile, input: unknown): Destination | undefined {
  const from = part.value ?? part.outline
  const { data: id } = idField.safeParse(valueAt(from, ['id']))
  if (id === undefined) return undefined
  const sources = valueAt(from, ['sources'])
  const allowed = Array.isArray(sources) ? [...new Set(sources.filter(createAllowedSourceFilter(part, input)))] : []
  return placeholderOfEntry(id, allowed, from)
}

/**
 * A minimal destination with which the configuration passes validation. The destination in
 * `standIns` replaces it afterwards.
 */
function stubOf(id: string, input: unknown, port: number): object {
  const source = valueAt(input, ['sources', 0, 'id'])
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
