import { describe, expect, it } from '@jest/globals'
import type { ObjectDocument, ObjectKind } from '../../../../src/core/config-objects/config-objects.ts'
import { mergeObjects } from '../../../../src/core/config-objects/merge-objects.ts'
import { type ReadObject, readObject } from '../../../../src/core/config-objects/read-object.ts'
import { unknownDestinationProblem } from '../../../../src/core/deletion/deletion-request.ts'
import { createRouting, placeholderDestination } from '../../../../src/core/delivery/route.ts'
import {
  destinationDocument,
  fileSettings,
  firstKey,
  named,
  sealedValue,
  secondKey,
  sourceDocument,
} from '../../../support/config-objects/example-objects.ts'

const object = (kind: ObjectKind, id: string, document: ObjectDocument, key = firstKey): ReadObject =>
  readObject(named(kind, id), sealedValue(named(kind, id), document, key), { keys: [firstKey], context: {} })

const merged = (objects: readonly ReadObject[]) => {
  const { settings, ...rest } = mergeObjects(fileSettings(), objects)
  return {
    ...rest,
    sources: Object.fromEntries(settings.sources.map(({ id, writeKeys }) => [id, writeKeys.map(key => key.reveal())])),
    destinations: settings.destinations.map(({ id }) => id),
  }
}

describe('mergeObjects', () => {
  it('adds the objects to those of the file', () => {
    const result = merged([
      object('destination', 'crm', destinationDocument()),
      object('source', 'app', sourceDocument()),
    ])
    expect(result).toEqual({
      sources: { web: ['write-key-of-web'], app: ['write-key-of-the-app'] },
      destinations: ['file-crm', 'crm'],
      counts: { used: 2, excluded: 0, conflict: 0 },
      oldSeals: 0,
      problems: new Map(),
      problemsInFile: new Map(),
      conflicts: new Set(),
    })
  })

  it('lets the file win when both have an id', () => {
    const result = merged([
      object('destination', 'file-crm', destinationDocument()),
      object('source', 'web', sourceDocument()),
    ])
    expect(result).toMatchObject({
      sources: { web: ['write-key-of-web'] },
      destinations: ['file-crm'],
      counts: { used: 0, excluded: 0, conflict: 2 },
    })
    expect([...result.conflicts].sort()).toEqual(['destination/file-crm', 'source/web'])
  })

  it('excludes an unreadable object, and uses the others', () => {
    const result = merged([
      object('destination', 'a', destinationDocument(), secondKey),
      object('destination', 'b', destinationDocument()),
    ])
    expect(result).toMatchObject({ destinations: ['file-crm', 'a', 'b'], counts: { used: 1, excluded: 1 } })
  })

  it('gives a write key of two sources to the lower id, in every order of the objects', () => {
    const two = [
      object('source', 'b', sourceDocument({ writeKey: ['same-key-of-both', 'other-key-of-b'] })),
      object('source', 'a', sourceDocument({ writeKey: 'same-key-of-both' })),
    ]
    for (const objects of [two, two.toReversed()]) {
      const result = merged(objects)
      expect(result.sources).toEqual({ web: ['write-key-of-web'], a: ['same-key-of-both'], b: [] })
      expect(result.counts).toEqual({ used: 1, excluded: 1, conflict: 0 })
      expect([...result.problems.keys()]).toEqual(['source/b'])
    }
  })

  it('gives a write key to the source of the file, whatever its id is', () => {
    const result = merged([object('source', 'a', sourceDocument({ writeKey: 'write-key-of-web' }))])
    expect(result.sources).toEqual({ web: ['write-key-of-web'], a: [] })
  })

  it('leaves only existing sources to a held destination of the file, because its list may be cut off', () => {
    const file = fileSettings()
    const held = ['app', 'ap'].map(source => placeholderDestination(`held-${source}`, ['gone', source]))
    const { settings, problemsInFile } = mergeObjects({ ...file, destinations: held }, [
      object('source', 'app', sourceDocument()),
    ])
    expect(settings.destinations.map(({ id, sources }) => [id, sources])).toEqual([
      ['held-app', ['app']],
      ['held-ap', []],
    ])
    expect(problemsInFile).toEqual(new Map())
    expect(unknownDestinationProblem(createRouting(settings))).toContain('"held-ap"')
  })
})
