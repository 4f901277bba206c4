import { countWithNoun } from '../count-with-noun.ts'
import { adviceOnName } from '../settings/key-and-name-hints.ts'
import type { Destination, Settings, Source } from '../settings/settings.ts'
import { maxProblems, type SettingsProblem } from '../settings/settings-problem.ts'
import type { ObjectDocument } from './config-objects.ts'
import { duplicatedKey, duplicatedKeys, isInFile, unknownSource } from './merge-objects.ts'
import { type ObjectName, objectKeyOf } from './object-record.ts'
import { type ReadObject, writeKeysIn } from './read-object.ts'
import type { ParsedObject } from './validate-object.ts'

/** All sources and destinations, from the configuration file and from the config topic. */
export interface AllObjects {
  readonly file: Pick<Settings, 'sources' | 'destinations' | 'audiences' | 'canary' | 'notices'>
  readonly object: (name: ObjectName) => ReadObject | undefined
  readonly objects: () => Iterable<ReadObject>
}

/**
 * Returns a problem for each unknown source of a destination, and for each write key of a source
 * that another source has too. Sources and write keys that the object already had (`earlier`) cause
 * no problem, so that an object with problems can still be changed.
 */
export function brokenReferences(
  object: ParsedObject,
  document: ObjectDocument,
  all: AllObjects,
  earlier: ObjectDocument = {},
): readonly SettingsProblem[] {
  return object.kind === 'destination'
    ? unknownSources(object.destination.sources, all, earlier)
    : duplicatedWriteKeys(object.source, document, all, earlier)
}

function unknownSources(
  named: readonly string[],
  all: AllObjects,
  earlier: ObjectDocument,
): readonly SettingsProblem[] {
  const before = new Set([earlier['sources']].flat())
  const isKnown = (id: string): boolean =>
    all.object({ kind: 'source', id }) !== undefined || all.file.sources.some(source => source.id === id)
  const added = [...named.entries()].filter(([, id]) => !before.has(id))
  const unknown = added.filter(([, id]) => !isKnown(id))
  if (unknown.length === 0) return excludedSources(added, all)
  const ids = [...sourcesOf(all)].map(({ id }) => id)
  // Finding a similar id for each of thousands of unknown ids would take minutes.
  return unknown.slice(0, maxProblems).map(([index, id]) => ({
    ...unknownSource(index),
    hint: adviceOnName(id, ids, 'use the id of a configured source'),
  }))
}

/**
 * Returns a problem for each named source that is excluded because another source has the same
 * write key. A destination must not name this source, because Hookline may soon undo the creation
 * of the source (`record-that-undoes-change.ts`).
 */
function excludedSources(
  named: readonly (readonly [number, string])[],
  { file, object, objects }: AllObjects,
): readonly SettingsProblem[] {
  const ofTopic = (id: string) => !isInFile(file, { kind: 'source', id }) && object({ kind: 'source', id })
  if (!named.some(([, id]) => ofTopic(id))) return []
  const sources = [...objects()].flatMap(({ id, parsed, keyOffsets }) =>
    parsed.kind === 'source' && ofTopic(id) ? [{ source: parsed.source, keyOffsets }] : [],
  )
  const problems = duplicatedKeys(file.sources, sources)
  const message = 'Hookline does not use the source with this id, because another source has the same write key'
  return named
    .filter(([, id]) => problems.has(objectKeyOf({ kind: 'source', id })))
    .map(([index]) => ({
      path: ['sources', index],
      message,
      hint: 'give this source another write key, then repeat the change',
    }))
}

function duplicatedWriteKeys(
  { id, writeKeys }: Source,
  document: ObjectDocument,
  all: AllObjects,
  earlier: ObjectDocument,
): readonly SettingsProblem[] {
  const before = writeKeysIn(earlier)
  if (writeKeys.every(key => before.includes(key.reveal()))) return []
  const others = new Set<string>()
  for (const source of sourcesOf(all))
    if (source.id !== id) for (const key of source.writeKeys) others.add(key.reveal())
  const isList = Array.isArray(document['writeKey'])
  return writeKeys.flatMap((key, index) =>
    others.has(key.reveal()) && !before.includes(key.reveal())
      ? [{ ...duplicatedKey, path: ['writeKey', ...(isList ? [index] : [])] }]
      : [],
  )
}

/** The parts of one change that can conflict with concurrent changes of other objects. */
export interface References {
  readonly name: ObjectName
  readonly isDeletion: boolean
  /** The sources that the change adds to a destination. */
  readonly sources: readonly unknown[]
  /** Write keys that the change adds to a source, or all write keys of a source that it deletes. */
  readonly writeKeys: readonly unknown[]
}

/**
 * Finds the `References` of a change from the documents `before` and `after` the change. A creation
 * has no `before`, a deletion has no `after`.
 */
export function referencesOf(
  name: ObjectName,
  before: ObjectDocument = {},
  after: ObjectDocument | undefined,
): References {
  const added = (all: readonly unknown[], earlier: readonly unknown[]) => all.filter(each => !earlier.includes(each))
  const sourcesIn = ({ sources }: ObjectDocument): readonly unknown[] => (Array.isArray(sources) ? sources : [])
  return {
    name,
    isDeletion: after === undefined,
    sources: name.kind === 'destination' ? added(sourcesIn(after ?? {}), sourcesIn(before)) : [],
    writeKeys:
      name.kind === 'source' ? (after ? added(writeKeysIn(after), writeKeysIn(before)) : writeKeysIn(before)) : [],
  }
}

/**
 * Whether the change `a` may make the change `b` invalid, or the reverse. The caller must then plan
 * the second change again.
 */
export const mayConflict = (a: References, b: References): boolean =>
  isDeletionOfNamed(a, b) || isDeletionOfNamed(b, a) || a.writeKeys.some(key => b.writeKeys.includes(key))

const isDeletionOfNamed = ({ name, isDeletion }: References, { sources }: References): boolean =>
  isDeletion && name.kind === 'source' && sources.includes(name.id)

/**
 * Returns a problem if an object cannot be deleted, because another object or a setting uses it.
 */
export function usesOf({ kind, id }: ObjectName, all: AllObjects): readonly SettingsProblem[] {
  const users = kind === 'source' ? usersOfSource(id, all) : usersOfDestination(id, all)
  const [first] = users
  if (first === undefined) return []
  const more = users.length > 1 ? ` and in ${countWithNoun(users.length - 1, 'more place')}` : ''
  const others = users.length > 1 ? ' and from the other places' : ''
  const hint = `remove this ${kind} from ${first}${others} first`
  return [{ path: [], message: `this ${kind} is used by ${first}${more}`, hint }]
}

const usersOfSource = (id: string, all: AllObjects): readonly string[] =>
  [...destinationsOf(all)].filter(({ sources }) => sources.includes(id)).map(user => `the destination ${user.id}`)

const usersOfDestination = (id: string, { file: { audiences, canary, notices } }: AllObjects): readonly string[] => [
  ...audiences.list.filter(({ destinations }) => destinations.includes(id)).map(user => `the audience ${user.name}`),
  ...(canary?.destination === id ? ['canary.destination'] : []),
  ...(notices?.destination === id ? ['notices.destination'] : []),
]

function* sourcesOf({ file, objects }: AllObjects): Generator<Source> {
  yield* file.sources
  for (const { parsed } of objects()) if (parsed.kind === 'source') yield parsed.source
}

function* destinationsOf({ file, objects }: AllObjects): Generator<Destination> {
  yield* file.destinations
  for (const { parsed } of objects()) if (parsed.kind === 'destination') yield parsed.destination
}
