import { describe, expect, it } from '@jest/globals'
import {
  applyObjects,
  type ChangeRefusal,
  type ObjectClient,
} from '../../../../../src/app/commands/config-objects/apply-objects-by-api.ts'
import type { ExistingObject } from '../../../../../src/core/config-objects/apply-plan.ts'

const document = (id: string, more: object = {}) => ({
  ...{ id, sources: ['web'], webhooks: [{ url: 'https://a.example' }] },
  ...more,
})
const wanted = (id: string, more: object = {}) => ({ id, document: document(id, more) })
const stored = (id: string, more: object = {}): ExistingObject => ({
  ...{ id, origin: 'api', version: 2, document: document(id), fingerprints: {} },
  ...more,
})
const refusal = (code: string): ChangeRefusal => ({ kind: 'refused', code, message: `${code}.`, problems: [] })

/**
 * A client that records its calls. `answers` has responses by call. By default, a call makes its
 * change.
 */
function scripted(
  existing: readonly ExistingObject[],
  answers: Readonly<Record<string, ChangeRefusal | Error | 'same'>> = {},
) {
  const calls: string[] = []
  const answer = async (call: string) => {
    calls.push(call)
    const scriptedAnswer = answers[call]
    if (scriptedAnswer instanceof Error) throw scriptedAnswer
    if (scriptedAnswer === 'same') return { kind: 'changed', changedFields: [] } as const
    return scriptedAnswer ?? ({ kind: 'changed', changedFields: ['sources'] } as const)
  }
  const store: ObjectClient = {
    list: async () => existing,
    replace: (_kind, id, _document, { expected, dryRun }) => answer(`${dryRun ? 'check' : 'put'} ${id} ${expected}`),
    delete: (_kind, id, { expected, dryRun }) => answer(`${dryRun ? 'check deletion' : 'delete'} ${id} ${expected}`),
  }
  return { store, calls }
}

const given = { kind: 'destination', prune: true, dryRun: false } as const
const changed = { sources: ['server'] }

describe('applyObjects', () => {
  it('checks all changes before it makes the first one, each for the version that the plan saw', async () => {
    const { store, calls } = scripted([stored('b'), stored('old'), stored('same')])
    const outcome = await applyObjects(store, {
      ...given,
      wanted: [wanted('a'), wanted('b', changed), wanted('same')],
    })
    expect(outcome).toMatchObject({
      kind: 'applied',
      steps: [{ kind: 'create' }, { kind: 'replace' }, { kind: 'unchanged' }, { kind: 'delete' }],
    })
    expect(calls).toEqual([
      ...['check a absent', 'check b 2', 'check deletion old 2'],
      ...['put a absent', 'put b 2', 'delete old 2'],
    ])
  })

  it('changes nothing when one change is refused, and reports all refusals in order', async () => {
    const { store, calls } = scripted([stored('filed', { origin: 'file' })], {
      'check a absent': refusal('invalid_object'),
      'check c absent': refusal('invalid_object'),
    })
    const outcome = await applyObjects(store, {
      ...given,
      wanted: ['a', 'b', 'filed', 'c'].map(id => wanted(id)),
    })
    expect(outcome).toMatchObject({
      kind: 'refused',
      refused: [
        { step: { id: 'a' }, refusal: { code: 'invalid_object' } },
        { step: { kind: 'defined_in_file' }, refusal: undefined },
        { step: { id: 'c' }, refusal: { code: 'invalid_object' } },
      ],
    })
    expect(calls.filter(call => !call.startsWith('check'))).toEqual([])
  })

  it('does not write a replacement of which the API says that it changes nothing', async () => {
    const { store, calls } = scripted([stored('a')], { 'check a 2': 'same' })
    const outcome = await applyObjects(store, { ...given, wanted: [wanted('a', changed)] })
    expect(outcome).toEqual({ kind: 'applied', steps: [{ kind: 'unchanged', id: 'a' }] })
    expect(calls).toEqual(['check a 2'])
  })

  it.each<[string, ChangeRefusal | Error, object]>([
    ['another writer', refusal('precondition_failed'), { kind: 'refused', code: 'precondition_failed' }],
    ['an outage', new Error('no connection'), { kind: 'thrown', error: new Error('no connection') }],
  ])('begins no further change after one fails because of %s', async (_name, answer, why) => {
    const ids = Array.from({ length: 20 }, (_, index) => `d${index}`)
    const { store, calls } = scripted([], { 'put d1 absent': answer })
    const outcome = await applyObjects(store, { ...given, wanted: ids.map(id => wanted(id)) })
    if (outcome.kind !== 'interrupted') throw new Error(outcome.kind)
    expect(outcome).toMatchObject({ failed: [{ step: { id: 'd1' }, why }] })
    const begun = calls.filter(call => call.startsWith('put'))
    expect(begun.length).toBeLessThan(10)
    expect(outcome.done.map(({ id }) => `put ${id} absent`)).toEqual(begun.filter(call => call !== 'put d1 absent'))
    const failed = outcome.failed.map(({ step }) => step)
    expect([...outcome.done, ...failed, ...outcome.notStarted].map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  })

  it('reports the reason of each concurrent change that failed', async () => {
    const { store } = scripted([], {
      'put a absent': refusal('precondition_failed'),
      'put c absent': new Error('no connection'),
    })
    const outcome = await applyObjects(store, { ...given, wanted: ['a', 'b', 'c'].map(id => wanted(id)) })
    expect(outcome).toMatchObject({
      kind: 'interrupted',
      done: [{ id: 'b' }],
      failed: [
        { step: { id: 'a' }, why: { kind: 'refused', code: 'precondition_failed' } },
        { step: { id: 'c' }, why: { kind: 'thrown', error: new Error('no connection') } },
      ],
      notStarted: [],
    })
  })

  it('throws when the API cannot be used before the first change', async () => {
    const { store } = scripted([], { 'check a absent': new Error('no connection') })
    await expect(applyObjects(store, { ...given, wanted: [wanted('a')] })).rejects.toThrow('no connection')
  })
})
