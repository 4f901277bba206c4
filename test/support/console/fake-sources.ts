import type { ConfigObject } from '../../../packages/console/src/api/response-types.ts'
import { deleted, notFound, ok, refusal, replaced } from './fake-object-replacement-and-deletion.ts'
import { sources as initial } from './fake-operator-api-data.ts'
import type { Answer, Call } from './fake-routes.ts'

export interface FakeSources {
  readonly sources: Map<string, ConfigObject>
  readonly answer: (call: Call) => Answer
}

/** A source that a destination uses cannot be deleted. */
export function createFakeSources(destinations: ReadonlyMap<string, ConfigObject>): FakeSources {
  const sources = new Map(initial.map(each => [each.id, each]))

  function answer(call: Call): Answer {
    const [, id, action] = call.path
    if (id === undefined) return ok({ sources: [...sources.values()] })
    if (call.method === 'PUT')
      return replaced(call, { kind: 'source', id }, { objects: sources, problems: problemsOf(call.body) })
    const source = sources.get(id)
    if (source === undefined) return notFound
    if (call.method === 'DELETE') return isUsed(id) ? inUse : deleted(call, source, sources)
    return ok(action === 'rotate-key' ? { ...source, writeKey: 'wk_new', keys: 2 } : source)
  }

  const isUsed = (id: string): boolean =>
    [...destinations.values()].some(({ document }) => (document['sources'] as readonly string[]).includes(id))
  return { sources, answer }
}

const inUse = refusal(409, 'in_use', 'The object is in use, and was not deleted: see problems.', [
  { path: 'sources[0]', message: 'no source has this id', hint: 'use the id of a configured source' },
])

function problemsOf({ writeKey }: Call['body']): readonly object[] {
  if (writeKey === undefined) return [{ path: 'writeKey', message: 'is missing', hint: 'add writeKey' }]
  return [writeKey].flat().flatMap((key, index, all) =>
    key === ''
      ? [
          {
            path: all.length > 1 ? `writeKey[${index}]` : 'writeKey',
            message: 'must not be empty',
            hint: 'write a key',
          },
        ]
      : [],
  )
}
