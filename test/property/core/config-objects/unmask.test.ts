import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { addFingerprintsToMasks } from '../../../../packages/console/src/editor/add-fingerprints-to-masks.ts'
import type { ObjectDocument } from '../../../../src/core/config-objects/config-objects.ts'
import { maskDocument } from '../../../../src/core/config-objects/mask.ts'
import { unmask } from '../../../../src/core/config-objects/unmask.ts'

/* Tests that remove entries from the lists of a masked document, as a client can do. */

interface Lists {
  readonly sharedSecret: readonly unknown[]
  readonly webhooks: readonly ObjectDocument[]
}

const long = ['a long secret text 1', 'a long secret text 2', 'a long secret text 3']
const urls = ['https://a.example', 'https://a.example/path-1', 'https://a.example/path-2', 'https://b.example/path-1']

const destinationOf = (secret: fc.Arbitrary<string>) =>
  fc.record({
    sharedSecret: fc.uniqueArray(secret, { minLength: 1, maxLength: 2 }),
    webhooks: fc.uniqueArray(
      fc.record(
        {
          id: fc.constantFrom('first', 'second', 'third'),
          url: fc.constantFrom(...urls),
          headers: fc.dictionary(fc.constantFrom('x', 'y'), secret),
        },
        { requiredKeys: ['url'] },
      ),
      // The webhooks of a destination have different URLs and, if any, different ids.
      { minLength: 1, maxLength: 4, comparator: (a, b) => a.url === b.url || (a.id !== undefined && a.id === b.id) },
    ),
  })
const kept = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 })

const without = (document: Lists, isKept: readonly boolean[]): ObjectDocument => ({
  sharedSecret: document.sharedSecret.filter((_, index) => isKept[index]),
  webhooks: document.webhooks.filter((_, index) => isKept[index + 2]),
})

it('the entries that stay keep their secrets, or the change is refused', () => {
  const destination = destinationOf(fc.constantFrom(...long, 'short 1', 'short 2'))
  let unchanged = 0
  fc.assert(
    fc.property(destination, kept, (stored, isKept) => {
      const shown = maskDocument('destination', stored).document as unknown as Lists
      const { document, problems } = unmask('destination', without(shown, isKept), stored)
      if (problems.length > 0) return
      unchanged++
      expect(document).toEqual(without(stored, isKept))
    }),
  )
  expect(unchanged).toBeGreaterThan(0)
})

it('with the fingerprints that the console adds, the entries that stay keep their secrets', () => {
  fc.assert(
    fc.property(destinationOf(fc.constantFrom(...long)), kept, fc.boolean(), (stored, isKept, isReversed) => {
      const shown = addFingerprintsToMasks(maskDocument('destination', stored))
      const ordered = ({ sharedSecret, webhooks }: Lists): Lists =>
        isReversed
          ? { sharedSecret: sharedSecret.toReversed(), webhooks: webhooks.toReversed() }
          : { sharedSecret, webhooks }
      const next = without(ordered(shown as unknown as Lists), isKept)
      expect(unmask('destination', next, stored)).toEqual({
        document: without(ordered(stored), isKept),
        problems: [],
      })
    }),
  )
})
