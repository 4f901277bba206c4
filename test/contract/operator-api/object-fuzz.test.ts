import { afterAll, beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { type ConfigObject, objectKinds } from '../../../src/core/config-objects/config-objects.ts'
import { configTopic, type MemoryObjects, memoryObjects } from '../../support/operator/memory-objects.ts'
import { objectsApi } from '../../support/operator/memory-objects-api.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects, type ObjectAnswer } from '../../support/operator/send-operator-api-request.ts'
import { startOperator } from '../../support/operator/server.ts'

/* Each rejection of a random document must say what is wrong and must change nothing. */

let server: Awaited<ReturnType<typeof startOperator>>
let memory: MemoryObjects
beforeAll(async () => {
  memory = await memoryObjects(processClock)
  server = await startOperator(new ScriptedOperatorApi(), { objects: await objectsApi({ memory }) })
})
afterAll(() => server.stop())

const valid = {
  sources: ['web'],
  sharedSecret: 'a-shared-secret-of-crm',
  policy: { standardWebhooks: true },
  webhooks: [{ id: 'main', url: 'https://crm.example.com/hooks', headers: { Authorization: 'Bearer x' } }],
}
const validSource = { writeKey: 'a-write-key-of-the-app' }
type Step = readonly (string | number)[]
const places: readonly Step[] = [
  ...[
    ['sources'],
    ['sources', 0],
    ['sharedSecret'],
    ['policy'],
    ['policy', 'standardWebhooks'],
    ['webhooks'],
    ['paused'],
  ],
  ...[
    ['filter'],
    ['filter', 'where'],
    ['lifecycle'],
    ['auth'],
    ['auth', 'oauth2'],
    ['tls'],
    ['signingKey'],
    ['writeKey'],
  ],
  ...[['policy', 'ratePerSecond'], ['policy', 'timeout'], ['policy', 'schedule'], ['__proto__'], ['constructor']],
  ...[['webhooks', 0], ['webhooks', 0, 'id'], ['webhooks', 0, 'url'], ['webhooks', 0, 'headers'], ['enabled']],
  ...[
    ['webhooks', 0, 'headers', 'Authorization'],
    ['secretRotatesAt'],
    ['id'],
    ['unknown'],
    ['webhooks', 0, 'unknown'],
  ],
]
const nested = (depth: number, of: unknown = 1): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner, _, index) => (index % 2 === 0 ? [inner] : { a: inner }), of)
const value = fc.oneof(
  fc.constantFrom<unknown>(null, '', ' ', '***', 'web', true, 0, -1, 1e308, [], {}, ['web', 'web'], ['nobody']),
  fc.constantFrom<unknown>(
    'http://',
    'ftp://a.example',
    'https://u:p@a.example',
    'https://169.254.169.254/',
    'crm\n',
    '\u0000',
  ),
  fc.constantFrom<unknown>({ Host: 'x' }, { 'X-A': 'a\r\nb' }, { file: 'x' }, ['a', 'b', 'c'], '2026-02-30T00:00:00Z'),
  // Secrets that are partly masked, and masks in fields that are not secret.
  fc.constantFrom<unknown>('a***', '***b', ['***', '***'], { Authorization: '***', 'X-New': '***' }, { '***': '***' }),
  fc.constantFrom<unknown>('https://crm.example.com/***', 'https://other.example.com/***', 'https://***/hooks'),
  fc.constantFrom<unknown>(2 ** 53, -(2 ** 63), 5e-324, 0.1, '1e999', '9'.repeat(400), 'x'.repeat(70_000)),
  fc.constantFrom<unknown>('\u202eweb', 'we\u0301b', '\ud800', '\ufeff', '𝓌𝑒𝒷', { 'K\u0131ey': 'v' }, ['web\u200b']),
  fc.constantFrom<unknown>(
    '__proto__',
    ['__proto__'],
    { constructor: { prototype: 1 } },
    { toString: 1 },
    'hasOwnProperty',
  ),
  fc.integer({ min: 2, max: 300 }).map(depth => nested(depth)),
  fc.jsonValue(),
)
const mutation = fc.record({ place: fc.constantFrom(...places), value, isRemoved: fc.boolean() })

function mutated(document: unknown, [first, ...rest]: Step, to: unknown, isRemoved: boolean): unknown {
  if (first === undefined || typeof document !== 'object' || document === null) return to
  const copy = (Array.isArray(document) ? [...document] : { ...document }) as Record<string | number, unknown>
  const set = (next: unknown): void =>
    void Object.defineProperty(copy, first, { value: next, enumerable: true, configurable: true, writable: true })
  if (rest.length > 0) set(mutated(Object.hasOwn(copy, first) ? copy[first] : {}, rest, to, isRemoved))
  else if (isRemoved && !Array.isArray(copy)) delete copy[first]
  else set(to)
  return copy
}
const documentLike = (document: object) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(mutation, { minLength: 1, maxLength: 3 })
        .map(all =>
          all.reduce<unknown>((each, { place, value: to, isRemoved }) => mutated(each, place, to, isRemoved), document),
        ),
    },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
/** A document that starts with members which `JSON.stringify` cannot write. */
const prefixed = (document: fc.Arbitrary<unknown>) =>
  fc
    .tuple(
      document,
      fc.constantFrom(
        '"sources":["web"],',
        '"writeKey":"a","writeKey":"b",',
        '"paused":1e999,',
        '"paused":-12345678901234567890123456789012345678901234567890,',
        '"__proto__":{"paused":true},"__proto__":1,',
        `"a":${'['.repeat(3_000)}${']'.repeat(3_000)},`,
      ),
    )
    .map(([each, start]) => JSON.stringify(each).replace(/^\{/, `{${start}`))
function textLike(example: object): fc.Arbitrary<string> {
  const document = documentLike(example)
  return fc.oneof(
    { weight: 8, arbitrary: document.map(each => JSON.stringify(each)) },
    { weight: 2, arbitrary: prefixed(document) },
    { weight: 1, arbitrary: document.map(each => JSON.stringify(each).slice(0, -1)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  )
}
const request = fc.record({
  verb: fc.constantFrom('PUT', 'PATCH'),
  content: fc.oneof(
    { weight: 4, arbitrary: textLike(valid).map(body => ({ kind: 'destinations', body }) as const) },
    { weight: 1, arbitrary: textLike(validSource).map(body => ({ kind: 'sources', body }) as const) },
  ),
})

/** Number of concurrent requests, each for a different object. */
const batch = 25
const batches = 200

const everything = (): ReadonlyMap<string, ConfigObject> =>
  new Map(
    objectKinds.flatMap(kind => memory.objects.list(kind).map(object => [`${kind}s/${object.id}`, object] as const)),
  )

it('each refusal of 5,000 documents names path, problem and hint, and changes nothing', async () => {
  for (let index = 0; index < batch; index++) {
    const destination = await askObjects(server, `PUT /v1/destinations/o${index}`, valid)
    const source = await askObjects(server, `PUT /v1/sources/o${index}`, { writeKey: `a-write-key-of-${index}` })
    expect([destination.status, source.status]).toEqual([201, 201])
  }
  let [accepted, refused] = [0, 0]
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: batch, maxLength: batch }), async requests => {
      const [before, recordsBefore] = [everything(), memory.log.records(configTopic).length]
      const answers = await Promise.all(
        requests.map(async ({ verb, content: { kind, body } }, index) => {
          const name = `${kind}/o${index}`
          const ifMatch = before.get(name)?.version ?? 0
          return { name, answer: await askObjects(server, `${verb} /v1/${name}`, body, { ifMatch }) }
        }),
      )
      const after = everything()
      const changed = new Set<string>()
      for (const { name, answer } of answers) {
        if (answer.status !== 200) {
          refused++
          expectRefusal(answer)
          continue
        }
        accepted++
        expect(answer.body.version).toBe(after.get(name)?.version)
        if (answer.body.changedFields.length > 0) changed.add(name)
      }
      expect(memory.log.records(configTopic)).toHaveLength(recordsBefore + changed.size)
      const others = (objects: ReadonlyMap<string, ConfigObject>) => [...objects].filter(([name]) => !changed.has(name))
      expect(others(after)).toEqual(others(before))
    }),
    { numRuns: batches },
  )
  expect(accepted + refused).toBe(batch * batches)
  expect([accepted > 100, refused > 2_500]).toEqual([true, true])
}, 600_000)

function expectRefusal({ status, body }: ObjectAnswer): void {
  expect([400, 422]).toContain(status)
  expect(Object.keys(body)).toEqual(['code', 'message', 'problems'])
  expect(body.problems.length).toBeGreaterThan(0)
  for (const problem of body.problems)
    expect(problem).toEqual({
      path: expect.any(String),
      message: expect.stringMatching(/\S/),
      hint: expect.stringMatching(/\S/),
    })
}
