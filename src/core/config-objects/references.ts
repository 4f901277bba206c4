import { countWithNoun } from '../count-with-noun.ts'
import { adviceOnName } from '../settings/advice.ts'
import { maxProblems, type SettingsProblem } from '../settings/problem.ts'
import type { Destination, Settings, Source } from '../settings/settings.ts'
import type { ObjectDocument } from './config-objects.ts'
import { duplicatedKey } from './merge-objects.ts'
import type { ObjectName } from './object-record.ts'
import type { ReadObject } from './read-object.ts'
import type { ParsedObject } from './validate-object.ts'

/** All sources and destinations, of the file and of the config topic. */
export interface AllObjects {
  readonly file: Pick<Settings, 'sources' | 'destinations' | 'audiences' | 'canary' | 'notices'>
  readonly object: (name: ObjectName) => ReadObject | undefined
  readonly objects: () => Iterable<ReadObject>
}

/**
 * Returns the problems of a valid object that other objects cause: an unknown source, or a write
 * key that another source has.
 */
export function brokenReferences(
  object: ParsedObject,
  document: ObjectDocument,
  all: AllObjects,
): readonly SettingsProblem[] {
  return object.kind === 'destination'
    ? unknownSources(object.destination.sources, all)
    : duplicatedWriteKeys(object.source, document, all)
}

function unknownSources(named: readonly string[], all: AllObjects): readonly SettingsProblem[] {
  const isKnown = (id: string): boolean =>
    all.object({ kind: 'source', id }) !== undefined || all.file.sources.some(source => source.id === id)
  const unknown = [...named.entries()].filter(([, id]) => !isKnown(id))
  if (unknown.length === 0) return []
  const ids = [...sourcesOf(all)].map(({ id }) => id)
  // Only the first `maxProblems` problems are shown. Finding a similar id for each of thousands of
  // unknown ids would take minutes.
  return unknown.slice(0, maxProblems).map(([index, id]) => ({
    path: ['sources', index],
    message: 'no source has this id',
    hint: adviceOnName(id, ids, 'use the id of a configured source'),
  }))
}

function duplicatedWriteKeys(
  { id, writeKeys }: Source,
  document: ObjectDocument,
  all: AllObjects,
): readonly SettingsProblem[] {
  const others = new Set<string>()
  for (const source of sourcesOf(all))
    if (source.id !== id) for (const key of source.writeKeys) others.add(key.reveal())
  const isList = Array.isArray(document['writeKey'])
  return writeKeys.flatMap((key, index) =>
    others.has(key.reveal()) ? [{ ...duplicatedKey, path: ['writeKey', ...(isList ? [index] : [])] }] : [],
  )
}

/**
 * Returns a problem if an object cannot be deleted, because another object or a setting uses it.
 */
export function usesOf({ kind, id }: ObjectName, all: AllObjects): readonly SettingsProblem[] {
  const users = kind === 'source' ? usersOfSource(id, all) : usersOfDestination(id, all)
  const [first] = users
  if (first === undefined) return []
  const more = users.length > 1 ? ` and in ${countWithNoun(users.length - 1, 'more place')}` : ''
  return [{ path: [], message: `is used by ${first}${more}`, hint: `remove this id from ${first} first` }]
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
