import type { FailureState } from '../auto-disable/judge-failures.ts'
import { placeholderOf } from '../delivery/route.ts'
import type { Destination, Settings, Source } from '../settings/settings.ts'
import { maxProblems, type SettingsProblem } from '../settings/settings-problem.ts'
import { disablingOf } from './destination-failure-record.ts'
import { type ObjectName, objectKeyOf } from './object-record.ts'
import type { ReadObject } from './read-object.ts'

/** The settings of the file together with the objects of the config topic. */
export interface Merged {
  readonly settings: Settings
  /**
   * The objects of the config topic by state. `conflict`: the configuration file has the object
   * too.
   */
  readonly counts: { readonly used: number; readonly excluded: number; readonly conflict: number }
  /**
   * The number of objects with a secret that is encrypted with an old key, not with the first key
   * of `operator.encryptionKeyFile`.
   */
  readonly oldSeals: number
  /**
   * For each object (`kind/id`), the problems that only a comparison with the other objects shows,
   * for example the id of a source that does not exist.
   */
  readonly problems: ReadonlyMap<string, readonly SettingsProblem[]>
  /**
   * For each destination of the file (`destination/id`), a problem for each of its unknown sources.
   * The destination stays in use with its other sources.
   */
  readonly problemsInFile: ReadonlyMap<string, readonly SettingsProblem[]>
  /**
   * The objects (`kind/id`) of the config topic that are not used because the configuration file
   * has them too.
   */
  readonly conflicts: ReadonlySet<string>
  /**
   * The destinations that differ from the previous merge result, by id. Absent if other parts of
   * the result may differ too.
   */
  readonly changedDestinations?: ReadonlyMap<string, Destination>
}

/**
 * Adds the objects of the config topic to the settings of the file. The result must not depend on
 * the order of `objects`.
 * - An object of the file has precedence over one with the same kind and id.
 * - If two sources have the same write key, a source of the file keeps it, otherwise the source
 *   that got it first. The other source loses all its write keys.
 * - A destination of the config topic with an unknown source is excluded: its messages wait.
 * - A placeholder for a destination whose file is missing or invalid loses its unknown sources (see
 *   `withoutUnknownSources`).
 * - A destination that Hookline has disabled (see `failures`) gets `enabled: false`.
 */
export function mergeObjects(
  file: Settings,
  objects: Iterable<ReadObject>,
  failures: ReadonlyMap<string, FailureState> = new Map(),
): Merged {
  const inFile = {
    source: new Set<string>(file.sources.map(({ id }) => id)),
    destination: new Set<string>(file.destinations.map(({ id }) => id)),
  }
  const destinations: Destination[] = []
  const sources: TopicSource[] = []
  const conflicts = new Set<string>()
  let excluded = 0
  let used = 0
  let oldSeals = 0
  for (const object of objects) {
    if (object.hasOldSeal) oldSeals++
    if (inFile[object.kind].has(object.id)) {
      conflicts.add(objectKeyOf(object))
      continue
    }
    if (object.problems.length > 0) excluded++
    else used++
    if (object.parsed.kind === 'source') sources.push({ ...object.parsed, keyOffsets: object.keyOffsets })
    else destinations.push(object.parsed.destination)
  }
  const known = new Set([...inFile.source, ...sources.map(({ source }) => source.id)])
  const problems = new Map([
    ...duplicatedKeys(file.sources, sources),
    ...unknownSources(destinations, known, unknownSourceHint),
  ])
  const isExcluded = (kind: ObjectName['kind'], id: string): boolean => problems.has(objectKeyOf({ kind, id }))
  const keptSources = sources.map(({ source }) =>
    isExcluded('source', source.id) ? { ...source, writeKeys: [] } : source,
  )
  const ofFile = file.destinations.map(each => withoutUnknownSources(each, known))
  const allDestinations = withDisablings([...ofFile, ...destinations], failures)
  const keptDestinations =
    problems.size === 0
      ? allDestinations
      : allDestinations.map(destination =>
          !inFile.destination.has(destination.id) && isExcluded('destination', destination.id)
            ? placeholderOf(destination)
            : destination,
        )
  return {
    settings: { ...file, sources: [...file.sources, ...keptSources], destinations: keptDestinations },
    counts: { used: used - problems.size, excluded: excluded + problems.size, conflict: conflicts.size },
    oldSeals,
    problems,
    problemsInFile: new Map(unknownSources(file.destinations, known, unknownSourceInFileHint)),
    conflicts,
  }
}

/**
 * Removes the unknown sources of a placeholder (a destination whose file is missing or invalid),
 * because the file may be cut off within the id of a source. If no source remains, Hookline refuses
 * deletions of users: it cannot decide whether the destination gets their delete messages.
 */
function withoutUnknownSources(destination: Destination, known: ReadonlySet<string>): Destination {
  const { isPlaceholder, sources } = destination
  if (isPlaceholder !== true || sources.every(source => known.has(source))) return destination
  return { ...destination, sources: sources.filter(source => known.has(source)) }
}

function withDisablings(
  destinations: readonly Destination[],
  failures: ReadonlyMap<string, FailureState>,
): readonly Destination[] {
  return failures.size === 0 ? destinations : destinations.map(each => withDisabling(each, failures))
}

/** Returns the destination, with `enabled: false` if Hookline has disabled it (see `failures`). */
export function withDisabling(destination: Destination, failures: ReadonlyMap<string, FailureState>): Destination {
  const disabledAutomatically = disablingOf(destination, failures.get(destination.id))
  const isInForce = destination.enabled && disabledAutomatically !== undefined
  return isInForce ? { ...destination, enabled: false, disabledAutomatically } : destination
}

/** `keyOffsets`: for each write key of the source, the offset of the record that added the key. */
interface TopicSource extends Pick<ReadObject, 'keyOffsets'> {
  readonly source: Source
}

interface KeyOwner {
  readonly id: string
  readonly offset: number
}

/**
 * Returns a problem for each source of the config topic with a write key that another source keeps
 * (see `mergeObjects`).
 */
export function duplicatedKeys(ofFile: readonly Source[], ofTopic: readonly TopicSource[]): Merged['problems'] {
  const owners = new Map<string, KeyOwner>()
  for (const { source, keyOffsets } of ofTopic)
    for (const [index, key] of source.writeKeys.entries()) {
      const own = { id: source.id, offset: keyOffsets[index] ?? Number.POSITIVE_INFINITY }
      const owner = owners.get(key.reveal())
      if (owner === undefined || isBefore(own, owner)) owners.set(key.reveal(), own)
    }
  const taken = new Set(ofFile.flatMap(({ writeKeys }) => writeKeys.map(key => key.reveal())))
  const problems = new Map<string, readonly SettingsProblem[]>()
  for (const { source } of ofTopic) {
    const { id, writeKeys } = source
    if (writeKeys.some(key => taken.has(key.reveal()) || owners.get(key.reveal())?.id !== id))
      problems.set(objectKeyOf({ kind: 'source', id }), [duplicatedKey])
  }
  return problems
}

/**
 * Whether `a` got the write key first. If both offsets are unknown, the ids decide, so that all
 * processes get the same result.
 */
const isBefore = (a: KeyOwner, b: KeyOwner): boolean => a.offset < b.offset || (a.offset === b.offset && a.id < b.id)

function* unknownSources(
  destinations: readonly Destination[],
  known: ReadonlySet<string>,
  hint: string,
): Generator<readonly [string, readonly SettingsProblem[]]> {
  for (const { id, sources, isPlaceholder } of destinations) {
    if (isPlaceholder === true || sources.every(source => known.has(source))) continue
    const unknown = [...sources.entries()].filter(([, source]) => !known.has(source)).slice(0, maxProblems)
    yield [objectKeyOf({ kind: 'destination', id }), unknown.map(([index]) => ({ ...unknownSource(index), hint }))]
  }
}

/** The problem of a destination whose `sources[index]` does not exist. The caller adds the hint. */
export const unknownSource = (index: number) => ({ path: ['sources', index], message: 'no source has this id' })

const unknownSourceHint =
  'messages for the destination wait: create a source with this id, or remove the id from the destination'

const unknownSourceInFileHint =
  'the destination gets only the events of its other sources: create a source with this id, or correct or remove the id in the file'

export const duplicatedKey: SettingsProblem = {
  path: ['writeKey'],
  message: 'is also the write key of another source',
  hint: 'use another write key',
}

export const isInFile = (file: Pick<Settings, 'sources' | 'destinations'>, { kind, id }: ObjectName): boolean =>
  (kind === 'source' ? file.sources : file.destinations).some(each => each.id === id)
