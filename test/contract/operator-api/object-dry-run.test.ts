import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { type MemoryObjects, memoryObjects } from '../../support/operator/memory-objects.ts'
import { objectsApi } from '../../support/operator/memory-objects-api.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { startOperator } from '../../support/operator/server.ts'

let memory: MemoryObjects
let server: Awaited<ReturnType<typeof startOperator>>
let records: number
const crm = { sources: ['web'], webhooks: [{ url: 'https://crm.example.com' }] }
const written = (): number => memory.log.records('hookline.config').length

beforeEach(async () => {
  memory = await memoryObjects(processClock)
  server = await startOperator(new ScriptedOperatorApi(), { objects: await objectsApi({ memory }) })
  await askObjects(server, 'PUT /v1/destinations/crm', crm)
  records = written()
})
afterEach(() => server.stop())

it.each<[string, unknown, object, Readonly<Record<string, unknown>>]>([
  ['PUT /v1/destinations/new?dryRun=true', crm, {}, { dryRun: true, created: true }],
  [
    'PUT /v1/destinations/crm?dryRun=true',
    { ...crm, sources: ['server'] },
    { ifMatch: 1 },
    { dryRun: true, created: false, changedFields: ['sources[0]'] },
  ],
  ['PATCH /v1/destinations/crm?dryRun=true', { paused: true }, { ifMatch: 1 }, { changedFields: ['paused'] }],
  ['PUT /v1/destinations/crm?dryRun=true', crm, { ifMatch: 1 }, { version: 1, changedFields: [] }],
  ['DELETE /v1/destinations/crm?dryRun=true', undefined, { ifMatch: 1 }, { dryRun: true, changedFields: [] }],
])('%s with %j reports what it would change, and writes nothing', async (line, body, headers, answer) => {
  const { status, body: shown } = await askObjects(server, line, body, headers)
  expect({ status, shown }).toEqual({ status: 200, shown: expect.objectContaining(answer) })
  expect(written()).toBe(records)
})

it.each<[string, unknown, object, number, string]>([
  ['PUT /v1/destinations/new?dryRun=true', { ...crm, sources: ['nowhere'] }, {}, 422, 'invalid_object'],
  ['PUT /v1/destinations/crm?dryRun=true', crm, { ifMatch: 7 }, 412, 'precondition_failed'],
  ['PUT /v1/destinations/filed?dryRun=true', crm, { ifMatch: 0 }, 409, 'defined_in_file'],
  ['DELETE /v1/destinations/new?dryRun=true', undefined, { ifMatch: 1 }, 404, 'not_found'],
  ['PUT /v1/destinations/crm?dryRun=maybe', crm, { ifMatch: 1 }, 400, 'invalid_query'],
  ['PUT /v1/destinations/crm?dryrun=true', crm, { ifMatch: 1 }, 400, 'invalid_query'],
  ['POST /v1/destinations/crm/pause?dryRun=true', undefined, {}, 400, 'invalid_query'],
  ['POST /v1/destinations/crm/rotate-secret?dryRun=true', undefined, {}, 400, 'invalid_query'],
])('%s with %j is refused as without dryRun', async (line, body, headers, status, code) => {
  expect(await askObjects(server, line, body, headers)).toMatchObject({ status, body: { code } })
  expect(written()).toBe(records)
})

it('the audit log says that nothing was changed', async () => {
  await askObjects(server, 'PUT /v1/destinations/new?dryRun=true', crm)
  expect(server.audited.at(-1)).toMatchObject({
    action: 'put_destination',
    destination: 'new',
    dryRun: true,
    result: 'ok',
  })
})
