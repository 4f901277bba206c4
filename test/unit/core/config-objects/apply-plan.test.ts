import { describe, expect, it } from '@jest/globals'
import { applyPlanOf, type ExistingObject } from '../../../../src/core/config-objects/apply-plan.ts'
import type { ObjectDocument } from '../../../../src/core/config-objects/config-objects.ts'
import { fingerprintOf, maskDocument } from '../../../../src/core/config-objects/mask.ts'

const url = 'https://crm.example.com/hooks'
const crm = { id: 'crm', sources: ['web'], webhooks: [{ url }] }
const wanted = (document: ObjectDocument = {}) => ({ id: 'crm', document: { ...crm, ...document } })
/** An object as the API returns it, but with secrets in plain text. */
const existing = (document: ObjectDocument = {}, more: Partial<ExistingObject> = {}): ExistingObject => ({
  id: 'crm',
  origin: 'api',
  version: 3,
  ...maskDocument('destination', { ...crm, ...document }),
  ...more,
})
const [one, two, three] = ['the first shared secret', 'the second shared secret', 'the third shared secret']
const shown = (secret = ''): string => `*** (${fingerprintOf(secret)})`
const shownUrl = (text: string): string => `${new URL(text).origin}/*** (${fingerprintOf(text)})`

function step(before: ExistingObject | undefined, after: ObjectDocument = {}) {
  const [only, ...others] = applyPlanOf({
    kind: 'destination',
    wanted: [wanted(after)],
    existing: before === undefined ? [] : [before],
    prune: true,
  })
  expect(others).toEqual([])
  return only
}

describe('applyPlanOf', () => {
  it('creates an object that does not exist, and masks its secrets', () => {
    const document = { ...crm, sharedSecret: one, webhooks: [{ url, headers: { a: 'b' } }] }
    expect(step(undefined, document)).toEqual({
      kind: 'create',
      id: 'crm',
      document,
      changes: [
        { path: ['sources'], before: undefined, after: ['web'] },
        {
          path: ['webhooks'],
          before: undefined,
          after: [{ url: 'https://crm.example.com/***', headers: { a: '***' } }],
        },
        { path: ['sharedSecret'], before: undefined, after: '***' },
      ],
    })
  })

  it.each<[string, ObjectDocument, ObjectDocument]>([
    ['an equal document', {}, {}],
    ['a default that only one of them has', { enabled: true, paused: false, policy: {} }, {}],
    ['keys in another order', { enabled: true, policy: {} }, { policy: {}, enabled: true }],
    [
      'a URL without a path',
      { webhooks: [{ url: 'https://a.example' }] },
      { webhooks: [{ url: 'https://a.example' }] },
    ],
    ['the masked URL', {}, { webhooks: [{ url: 'https://crm.example.com/***' }] }],
    ['the stored secret', { sharedSecret: one }, { sharedSecret: one }],
    ['the mask of a secret', { sharedSecret: one }, { sharedSecret: '***' }],
    ['the mask of a secret with its fingerprint', { sharedSecret: one }, { sharedSecret: shown(one) }],
    ['the mask of a short secret', { sharedSecret: 'short' }, { sharedSecret: '***' }],
    ['a list with the stored secret', { sharedSecret: one }, { sharedSecret: [one] }],
    ['the stored secret, stored as a list', { sharedSecret: [one] }, { sharedSecret: one }],
    ['both stored secrets', { sharedSecret: [one, two] }, { sharedSecret: [one, two] }],
    ['no secret in the file', { sharedSecret: one }, {}],
    [
      'no secret in the file during a rotation',
      { sharedSecret: [one, two], secretRotatesAt: '2026-12-31T18:00:00Z' },
      {},
    ],
    ['a paused destination, and a file without paused', { paused: true }, {}],
    ['a disabled destination, and a file without enabled', { enabled: false }, {}],
    ['a key of a later version in both', { later: 1 }, { later: 1 }],
  ])('changes nothing for %s', (_name, before, after) => {
    expect(step(existing(before), after)).toEqual({ kind: 'unchanged', id: 'crm' })
  })

  it.each<[string, ObjectDocument, ObjectDocument, readonly object[]]>([
    [
      'a new source',
      {},
      { sources: ['web', 'server'] },
      [{ path: ['sources'], before: ['web'], after: ['web', 'server'] }],
    ],
    [
      'another path of the URL',
      {},
      { webhooks: [{ url: `${url}/new` }] },
      [{ path: ['webhooks', 0, 'url'], before: shownUrl(url), after: shownUrl(`${url}/new`) }],
    ],
    [
      'a second webhook with a header',
      {},
      { webhooks: [...crm.webhooks, { id: 'b', url: 'https://b.example', headers: { Authorization: 'Bearer x' } }] },
      [
        {
          path: ['webhooks', 1],
          before: undefined,
          after: {
            ...{ id: 'b', url: 'https://b.example', traceHeaders: false },
            headers: { Authorization: '*** (fewer than 16 characters, so no fingerprint is shown)' },
          },
        },
      ],
    ],
    ['a resumed destination', { paused: true }, { paused: false }, [{ path: ['paused'], before: true, after: false }]],
    [
      'another secret',
      { sharedSecret: one },
      { sharedSecret: two },
      [{ path: ['sharedSecret'], before: shown(one), after: shown(two) }],
    ],
    [
      'a short secret, which cannot be compared',
      { sharedSecret: 'short' },
      { sharedSecret: 'short' },
      [{ path: ['sharedSecret'], before: '***', after: '*** (fewer than 16 characters, so no fingerprint is shown)' }],
    ],
    [
      'one secret instead of two',
      { sharedSecret: [one, two] },
      { sharedSecret: two },
      [{ path: ['sharedSecret'], before: [shown(one), shown(two)], after: shown(two) }],
    ],
    [
      'the mask of one secret instead of two',
      { sharedSecret: [one, two] },
      { sharedSecret: shown(two) },
      [{ path: ['sharedSecret'], before: [shown(one), shown(two)], after: shown(two) }],
    ],
    ['a first secret', {}, { sharedSecret: one }, [{ path: ['sharedSecret'], before: undefined, after: shown(one) }]],
    [
      'another header value',
      { webhooks: [{ url, headers: { a: one, b: two } }] },
      { webhooks: [{ url, headers: { a: three, b: two } }] },
      [{ path: ['webhooks', 0, 'headers', 'a'], before: shown(one), after: shown(three) }],
    ],
    [
      'a removed header',
      { webhooks: [{ url, headers: { a: one } }] },
      { webhooks: [{ url }] },
      [{ path: ['webhooks', 0, 'headers', 'a'], before: shown(one), after: undefined }],
    ],
    [
      'a key of a later version that the file does not have',
      { later: { a: 1 } },
      {},
      [{ path: ['later'], before: { a: 1 }, after: undefined }],
    ],
  ])('replaces the object for %s', (_name, before, after, changes) => {
    expect(step(existing(before), after)).toMatchObject({ kind: 'replace', id: 'crm', expectedVersion: 3, changes })
  })

  it('keeps a pause and the secrets when it changes another field', () => {
    const secretRotatesAt = '2026-12-31T18:00:00Z'
    const before = existing({ paused: true, sharedSecret: [one, two], secretRotatesAt })
    expect(step(before, { sources: ['server'] })).toMatchObject({
      document: { ...crm, sources: ['server'], paused: true, sharedSecret: ['***', '***'], secretRotatesAt },
      changes: [{ path: ['sources'] }],
    })
  })

  it('keeps the time of a running rotation when the file has masks and an earlier time', () => {
    const secretRotatesAt = '2026-12-31T18:00:00Z'
    const before = existing({ sharedSecret: [one, two], secretRotatesAt })
    const earlier = '2026-11-30T18:00:00Z'
    const masks = { sharedSecret: ['***', `*** (${fingerprintOf(two)})`], secretRotatesAt: earlier }
    expect(step(before, masks)).toEqual({ kind: 'unchanged', id: 'crm' })
    expect(step(before, { ...masks, sharedSecret: ['***', three] })).toMatchObject({
      document: { secretRotatesAt: earlier },
    })
  })

  it('ends a rotation when the file has the mask of one of the two secrets', () => {
    const before = existing({ sharedSecret: [one, two], secretRotatesAt: '2026-12-31T18:00:00Z' })
    const planned = step(before, { sharedSecret: `*** (${fingerprintOf(two)})` })
    expect(planned).toMatchObject({ kind: 'replace', document: { sharedSecret: expect.anything() } })
    expect(planned).not.toHaveProperty('document.secretRotatesAt')
  })

  it('keeps the write keys of a source that has none in the file', () => {
    const before = { ...existing(), ...maskDocument('source', { id: 'web', writeKey: [one, two] }), id: 'web' }
    const objects = { wanted: [{ id: 'web', document: { id: 'web' } }], existing: [before] }
    expect(applyPlanOf({ kind: 'source', ...objects, prune: false })).toEqual([{ kind: 'unchanged', id: 'web' }])
  })

  it('does not touch an object of the configuration file, even an equal one', () => {
    expect(step(existing({}, { origin: 'file', version: 0 }))).toEqual({ kind: 'defined_in_file', id: 'crm' })
  })

  it.each([true, false])('with prune: %s deletes only objects of the API that no file describes', prune => {
    const others = [existing({}, { id: 'old', version: 7 }), existing({}, { id: 'filed', origin: 'file', version: 0 })]
    const plan = applyPlanOf({ kind: 'destination', wanted: [wanted()], existing: [existing(), ...others], prune })
    expect(plan).toEqual([
      { kind: 'unchanged', id: 'crm' },
      ...(prune ? [{ kind: 'delete', id: 'old', expectedVersion: 7 }] : []),
    ])
  })

  it('has the steps in the order of the files', () => {
    const ids = ['c', 'a', 'b']
    const plan = applyPlanOf({
      kind: 'destination',
      wanted: ids.map(id => ({ id, document: { ...crm, id } })),
      existing: [],
      prune: false,
    })
    expect(plan.map(({ id }) => id)).toEqual(ids)
  })
})
