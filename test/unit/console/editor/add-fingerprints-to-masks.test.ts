import { expect, it } from '@jest/globals'
import { addFingerprintsToMasks } from '../../../../packages/console/src/editor/add-fingerprints-to-masks.ts'
import type { ObjectDocument, ObjectKind } from '../../../../src/core/config-objects/config-objects.ts'
import { fingerprintOf, maskDocument } from '../../../../src/core/config-objects/mask.ts'

const [key, otherKey] = ['the first write key', 'the second write key']
const [url, otherUrl] = ['https://a.example/hooks/1', 'https://a.example/hooks/2']
const token = 'Bearer of the crm'
const print = (secret: string, shown = '***'): string => `${shown} (${fingerprintOf(secret)})`

it.each<[name: string, ObjectKind, stored: ObjectDocument, edited: ObjectDocument]>([
  ['one write key', 'source', { writeKey: key }, { writeKey: '***' }],
  ['a list of one', 'source', { writeKey: [key] }, { writeKey: ['***'] }],
  ['several write keys', 'source', { writeKey: [key, otherKey] }, { writeKey: [print(key), print(otherKey)] }],
  ['a short write key', 'source', { writeKey: [key, 'short'] }, { writeKey: [print(key), '***'] }],
  [
    'several webhooks without ids',
    'destination',
    { sharedSecret: key, webhooks: [{ url, headers: { Authorization: token } }, { url: otherUrl }] },
    {
      sharedSecret: '***',
      webhooks: [
        { url: print(url, 'https://a.example/***'), headers: { Authorization: print(token) } },
        { url: print(otherUrl, 'https://a.example/***') },
      ],
    },
  ],
  [
    'webhooks with an id, or without a masked part',
    'destination',
    { webhooks: [{ id: 'a', url, headers: { Authorization: token } }, { url: 'https://a.example' }] },
    {
      webhooks: [
        { id: 'a', url: 'https://a.example/***', headers: { Authorization: '***' } },
        { url: 'https://a.example' },
      ],
    },
  ],
  ['one webhook', 'destination', { webhooks: [{ url }] }, { webhooks: [{ url: 'https://a.example/***' }] }],
])('the edited document of %s', (_, kind, stored, edited) =>
  expect(addFingerprintsToMasks(maskDocument(kind, stored))).toEqual(edited),
)
