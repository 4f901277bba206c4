import { expect, it } from '@jest/globals'
import { nearestName } from '../../../../src/core/settings/key-and-name-hints.ts'

const names = ['webhooks', 'sources', 'sharedSecret', 'sharedSecretFile', 'id']

it.each<[string, string, string | undefined]>([
  ['a missing letter', 'webhook', 'webhooks'],
  ['a surplus letter', 'ssources', 'sources'],
  ['another letter', 'sourcez', 'sources'],
  ['two letters swapped count once', 'di', 'id'],
  ['another case', 'SHAREDSECRET', 'sharedSecret'],
  ['another spelling', 'shared_secret', 'sharedSecret'],
  ['the nearer of two', 'sharedSecretFil', 'sharedSecretFile'],
  ['more than a third of it differs', 'sinks', undefined],
  ['a word unlike any name', 'retries', undefined],
  ['a single letter', 'i', undefined],
  ['empty', '', undefined],
  ['longer than any name', 'webhooks'.repeat(9), undefined],
])('%s', (_, typed, nearest) => {
  expect(nearestName(typed, names)).toBe(nearest)
})

it('suggests no name of an empty list', () => expect(nearestName('webhooks', [])).toBeUndefined())
