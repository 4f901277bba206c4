import { inspect } from 'node:util'
import { expect, it } from '@jest/globals'
import { EntriesAsWritten } from '../../../../src/core/settings/entries-as-written.ts'

const crm = {
  id: 'crm',
  sources: ['web'],
  sharedSecret: 'secret-of-the-crm',
  webhooks: [{ urlFile: '0\0secrets/url' }],
}
const given = new EntriesAsWritten({
  network: { allow: ['10.0.0.0/8'] },
  sources: [{ id: 'web', writeKey: 'key-of-web' }, undefined],
  destinations: [crm, { id: 'held', sources: ['web'] }],
})

it('gives the entries of the file, with the names of their files as the owner wrote them', () => {
  expect(given.entry('sources', 'web')).toEqual({ id: 'web', writeKey: 'key-of-web' })
  expect(given.entry('destinations', 'crm')).toEqual({ ...crm, webhooks: [{ urlFile: 'secrets/url' }] })
  expect(given.entry('destinations', 'web')).toBeUndefined()
  expect(given.context).toEqual({ network: { allow: ['10.0.0.0/8'] } })
})

it('hides the placeholders of files that cannot be used', () => {
  const shown = given.without(new Set(['held']))
  expect([shown.entry('destinations', 'held'), shown.entry('destinations', 'crm')]).toEqual([
    undefined,
    expect.anything(),
  ])
})

it('never shows a secret by accident', () => {
  expect(`${inspect(given, { depth: 9, showHidden: true })} ${JSON.stringify(given)} ${given}`).not.toMatch(
    /crm|key-of/,
  )
})
