import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  applyPlanOf,
  type ExistingObject,
  type Step,
  type WantedObject,
} from '../../../../src/core/config-objects/apply-plan.ts'
import type { ObjectDocument } from '../../../../src/core/config-objects/config-objects.ts'
import { maskDocument } from '../../../../src/core/config-objects/mask.ts'
import { unmask } from '../../../../src/core/config-objects/unmask.ts'
import { formatPath } from '../../../../src/core/settings/settings-problem.ts'

/* Applies files to a model of the operator API, which stores documents with their secrets. */

interface Stored {
  readonly origin: 'file' | 'api'
  readonly version: number
  readonly document: ObjectDocument
}
type Store = ReadonlyMap<string, Stored>

const ids = ['a', 'b', 'c', 'd']
const secret = fc.constantFrom('a secret of text 1', 'a secret of text 2', 'a secret of text 3')
const destination = fc.record(
  {
    id: fc.constant(''),
    enabled: fc.boolean(),
    paused: fc.boolean(),
    sources: fc.uniqueArray(fc.constantFrom('web', 'server', 'app'), { minLength: 1 }),
    sharedSecret: fc.oneof(secret, fc.array(secret, { minLength: 1, maxLength: 2 })),
    policy: fc.record({ standardWebhooks: fc.boolean() }, { requiredKeys: [] }),
    webhooks: fc.array(
      fc.record(
        {
          url: fc.constantFrom('https://a.example', 'https://a.example/path', 'https://b.example/path'),
          headers: fc.dictionary(fc.constantFrom('x', 'y'), secret),
          traceHeaders: fc.boolean(),
        },
        { requiredKeys: ['url'] },
      ),
      { minLength: 1, maxLength: 2 },
    ),
  },
  { requiredKeys: ['id', 'sources', 'webhooks'] },
)
const filed = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...ids), destination), { selector: ([id]) => id })
  .map(pairs => pairs.map(([id, document]): WantedObject => ({ id, document: { ...document, id } })))
const store = fc
  .tuple(filed, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }))
  .map(
    ([objects, fromFile]): Store =>
      new Map(
        objects.map(({ id, document }, index) => [
          id,
          { origin: fromFile[index] === true ? 'file' : 'api', version: index + 1, document },
        ]),
      ),
  )

const shown = (objects: Store): readonly ExistingObject[] =>
  [...objects].map(([id, { origin, version, document }]) => ({
    ...{ id, origin, version },
    ...maskDocument('destination', document),
  }))

function carriedOut(objects: Store, steps: readonly Step[]): Store {
  const result = new Map(objects)
  for (const step of steps) {
    const stored = result.get(step.id)
    if (step.kind === 'delete') result.delete(step.id)
    if (step.kind === 'create') result.set(step.id, { origin: 'api', version: 1, document: step.document })
    if (step.kind === 'replace' && stored !== undefined) {
      expect(step.expectedVersion).toBe(stored.version)
      const { document, problems } = unmask('destination', step.document, stored.document)
      expect(problems).toEqual([])
      result.set(step.id, { origin: 'api', version: stored.version + 1, document })
    }
  }
  return result
}

const plan = (wanted: readonly WantedObject[], objects: Store, prune: boolean): readonly Step[] =>
  applyPlanOf({ kind: 'destination', wanted, existing: shown(objects), prune })

it('applying the same files again changes nothing', () => {
  fc.assert(
    fc.property(filed, store, fc.boolean(), (wanted, before, prune) => {
      const after = carriedOut(before, plan(wanted, before, prune))
      const kinds = plan(wanted, after, prune).map(({ kind }) => kind)
      expect(kinds.filter(kind => kind !== 'unchanged' && kind !== 'defined_in_file')).toEqual([])
    }),
  )
})

/**
 * Adds the defaults and converts secrets to lists, so that documents with the same effect are
 * equal.
 */
const effective = ({
  enabled = true,
  paused = false,
  policy = {},
  webhooks,
  sharedSecret,
  ...rest
}: ObjectDocument) => ({
  ...rest,
  ...{ enabled, paused, policy },
  sharedSecret: [sharedSecret].flat(),
  webhooks: (webhooks as ObjectDocument[]).map(webhook => ({ headers: {}, traceHeaders: false, ...webhook })),
})

it('after the steps, each object is as its file says, and no other object has changed', () => {
  fc.assert(
    fc.property(filed, store, fc.boolean(), (wanted, before, prune) => {
      const after = carriedOut(before, plan(wanted, before, prune))
      for (const { id, document } of wanted) {
        const stored = before.get(id)
        if (stored?.origin === 'file') {
          expect(after.get(id)).toBe(stored)
          continue
        }
        const { enabled, paused, sharedSecret } = stored?.document ?? {}
        expect(effective(after.get(id)!.document)).toEqual(effective({ enabled, paused, sharedSecret, ...document }))
      }
      for (const [id, stored] of before)
        if (!wanted.some(each => each.id === id))
          expect(after.get(id)).toBe(prune && stored.origin === 'api' ? undefined : stored)
    }),
  )
})

it('no change contains a secret', () => {
  fc.assert(
    fc.property(filed, store, (wanted, before) => {
      const changes = plan(wanted, before, true).flatMap(step => ('changes' in step ? step.changes : []))
      for (const { path, before: old, after } of changes)
        expect(`${formatPath(path)} ${JSON.stringify([old, after])}`).not.toMatch(/a secret|path/)
    }),
  )
})
