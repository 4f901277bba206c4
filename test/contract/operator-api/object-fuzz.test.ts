import { afterAll, beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { systemClock } from '../../../src/adapters/clock/clock.ts'
import { configTopic, type MemoryObjects, memoryObjects } from '../../support/operator/memory-objects.ts'
import { askObjects } from '../../support/operator/object-requests.ts'
import { objectsApi } from '../../support/operator/objects-api.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-operator-api.ts'
import { startOperator } from '../../support/operator/server.ts'

/* Random documents through the API: each refusal says what is wrong and changes nothing. */

let server: Awaited<ReturnType<typeof startOperator>>
let memory: MemoryObjects
beforeAll(async () => {
  memory = await memoryObjects(systemClock)
  server = await startOperator(new ScriptedOperatorApi(), { objects: await objectsApi({ memory }) })
})
afterAll(() => server.stop())

const valid = {
  sources: ['web'],
  sharedSecret: 'a-shared-secret-of-crm',
  policy: { standardWebhooks: true },
  webhooks: [{ id: 'main', url: 'https://crm.example.com/hooks', headers: { Authorization: 'Bearer x' } }],
}
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
  ...[['webhooks', 0], ['webhooks', 0, 'id'], ['webhooks', 0, 'url'], ['webhooks', 0, 'headers'], ['enabled']],
  ...[
    ['webhooks', 0, 'headers', 'Authorization'],
    ['secretRotatesAt'],
    ['id'],
    ['unknown'],
    ['webhooks', 0, 'unknown'],
  ],
]
/** Values that are close to valid ones, and values of any kind. */
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
  fc.jsonValue(),
)
const mutation = fc.record({ place: fc.constantFrom(...places), value, isRemoved: fc.boolean() })

function mutated(document: unknown, [first, ...rest]: Step, to: unknown, isRemoved: boolean): unknown {
  if (first === undefined || typeof document !== 'object' || document === null) return to
  const copy = (Array.isArray(document) ? [...document] : { ...document }) as Record<string | number, unknown>
  if (rest.length > 0) copy[first] = mutated(copy[first], rest, to, isRemoved)
  else if (isRemoved && !Array.isArray(copy)) delete copy[first]
  else copy[first] = to
  return copy
}
const document = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(mutation, { minLength: 1, maxLength: 3 })
      .map(all =>
        all.reduce<unknown>((each, { place, value: to, isRemoved }) => mutated(each, place, to, isRemoved), valid),
      ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
)
const text = fc.oneof(
  { weight: 8, arbitrary: document.map(each => JSON.stringify(each)) },
  { weight: 1, arbitrary: document.map(each => JSON.stringify(each).slice(0, -1)) },
  { weight: 1, arbitrary: fc.string() },
)
const method = fc.constantFrom('PUT', 'PATCH')

it('each refusal names path, problem and hint, and changes nothing', async () => {
  let [accepted, refused] = [0, 0]
  let version = (await askObjects(server, 'PUT /v1/destinations/crm', valid)).body.version as number
  await fc.assert(
    fc.asyncProperty(method, text, async (verb, body) => {
      const before = memory.log.records(configTopic).length
      const answer = await askObjects(server, `${verb} /v1/destinations/crm`, body, { ifMatch: version })
      const after = await askObjects(server, 'GET /v1/destinations/crm')
      if (answer.status === 200) {
        accepted++
        version = answer.body.version
        expect(after.body.version).toBe(version)
        return
      }
      refused++
      expect([400, 422]).toContain(answer.status)
      expect(Object.keys(answer.body)).toEqual(['code', 'message', 'problems'])
      expect(answer.body.problems.length).toBeGreaterThan(0)
      for (const problem of answer.body.problems)
        expect(problem).toEqual({
          path: expect.any(String),
          message: expect.stringMatching(/\S/),
          hint: expect.stringMatching(/\S/),
        })
      expect(after.body.version).toBe(version)
      expect(memory.log.records(configTopic)).toHaveLength(before)
    }),
    { numRuns: 400 },
  )
  expect([accepted > 20, refused > 200]).toEqual([true, true])
}, 60_000)
