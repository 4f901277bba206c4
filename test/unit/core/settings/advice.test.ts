import { expect, it } from '@jest/globals'
import { nearestName } from '../../../../src/core/settings/advice.ts'

const names = ['webhooks', 'sources', 'sharedSecret', 'sharedSecretFile', 'id']

it.each<[string, string, string | undefined]>([
  ['a letter too few', 'webhook', 'webhooks'],
  ['a letter too many', 'ssources', 'sources'],
  ['another letter', 'sourcez', 'sources'],
  ['two letters swapped count once', 'di', 'id'],
  ['another case', 'SHAREDSECRET', 'sharedSecret'],
  ['another spelling', 'shared_secret', 'sharedSecret'],
  ['the nearer of two', 'sharedSecretFil', 'sharedSecretFile'],
  ['more than a third of it differs', 'sinks', undefined],
  ['nothing like any', 'retries', undefined],
  ['empty', '', undefined],
  ['longer than any name', 'webhooks'.repeat(9), undefined],
])('%s', (_, typed, nearest) => {
  expect(nearestName(typed, names)).toBe(nearest)
})

it('suggests no name', () => expect(nearestName('webhooks', [])).toBeUndefined())
