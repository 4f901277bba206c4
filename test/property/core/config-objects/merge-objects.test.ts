import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { mergeObjects } from '../../../../src/core/config-objects/merge-objects.ts'
import { readObject } from '../../../../src/core/config-objects/read-object.ts'
import {
  destinationDocument,
  fileSettings,
  firstKey,
  named,
  sealedValue,
  secondKey,
  sourceDocument,
} from '../../../support/config-objects/example-objects.ts'

const id = fc.constantFrom('a', 'b', 'c', 'd', 'web', 'file-crm')
const key = fc.constantFrom(
  'key-of-many-sources-1',
  'key-of-many-sources-2',
  'key-of-many-sources-3',
  'write-key-of-web',
)
const object = fc.oneof(
  fc.record({
    kind: fc.constant('source' as const),
    id,
    keys: fc.uniqueArray(key, { minLength: 1, maxLength: 3 }),
    isLost: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('destination' as const), id, keys: fc.constant([]), isLost: fc.boolean() }),
)

it('a merge depends only on the objects, excludes whole objects, and never gives a write key to two sources', () => {
  const objects = fc.uniqueArray(object, { selector: each => `${each.kind}/${each.id}`, maxLength: 10 })
  const file = fileSettings()
  fc.assert(
    fc.property(objects, fc.infiniteStream(fc.nat(9)), (given, random) => {
      const read = given.map(({ kind, id: own, keys, isLost }) => {
        const document = kind === 'source' ? sourceDocument({ writeKey: keys }) : destinationDocument()
        const value = sealedValue(named(kind, own), document, isLost ? secondKey : firstKey)
        return readObject(named(kind, own), value, { keys: [firstKey], context: {} })
      })
      const shuffled = read
        .map(each => [random.next().value as number, each] as const)
        .sort(([a], [b]) => a - b)
        .map(([, each]) => each)
      const [one, other] = [read, shuffled].map(each => mergeObjects(file, each))
      const keysOf = ({ settings }: typeof one & object) =>
        settings.sources.map(source => `${source.id}: ${source.writeKeys.map(each => each.reveal()).join()}`).sort()
      expect(keysOf(one!)).toEqual(keysOf(other!))
      expect([one!.counts, [...one!.problems.keys()].sort()]).toEqual([
        other!.counts,
        [...other!.problems.keys()].sort(),
      ])
      const all = one!.settings.sources.flatMap(({ writeKeys }) => writeKeys.map(each => each.reveal()))
      expect(new Set(all).size).toBe(all.length)
      const { used, excluded, conflict } = one!.counts
      expect(used + excluded + conflict).toBe(given.length)
      const ids = one!.settings.destinations.map(destination => destination.id)
      expect(new Set(ids).size).toBe(ids.length)
    }),
    { numRuns: 300 },
  )
})
