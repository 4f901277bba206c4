import { describe, expect, it } from '@jest/globals'
import { urlHashesOf, withoutFailures } from '../../../src/core/auto-disable/judge-failures.ts'
import { byLifecycle, failureRecord } from '../../../src/core/config-objects/destination-failure-record.ts'
import { encodeRecord } from '../../../src/core/config-objects/object-record.ts'
import { configTopic } from '../../support/operator/memory-objects.ts'
import { ask, clock, codes, create, served, serveObjectsForEach, start } from '../../support/operator/served-objects.ts'

serveObjectsForEach()

/** Writes the record with which another process disables a destination. */
function disable(id: string): void {
  const destination = served.memory.merged().settings.destinations.find(each => each.id === id)!
  const at = clock.now()
  const disabled = { at, reason: 'failing', failingSince: at } as const
  const state = { ...withoutFailures({ urls: urlHashesOf(destination), version: 0 }), failingSince: at, disabled }
  const record = failureRecord({
    id,
    by: byLifecycle,
    at,
    writeId: 'other',
    state,
    known: undefined,
    before: undefined,
  })
  served.memory.log.producer().append(configTopic, encodeRecord(record), () => undefined)
  while (served.memory.log.poll());
}

const disabledAutomatically = { at: expect.any(String), reason: 'failing', failingSince: expect.any(String) }

describe.each(['filed', 'crm'])('the destination %s that Hookline has disabled', id => {
  it('is shown as disabled, and is enabled again', async () => {
    await create()
    disable(id)
    const path = `/v1/destinations/${id}`
    expect((await ask(`GET ${path}`)).body).toMatchObject({ state: 'disabled', disabledAutomatically })
    expect((await ask(`GET ${path}/status`)).body).toMatchObject({ state: 'disabled', disabledAutomatically })
    const listed = (await ask('GET /v1/destinations?state=disabled')).body
    expect(listed).toMatchObject({ destinations: [{ id, disabledAutomatically }] })

    const enabled = await ask(`POST ${path}/enable`)
    expect(enabled).toMatchObject({ status: 200, body: { state: 'enabled', changedFields: ['enabled'] } })
    expect(enabled.body).not.toHaveProperty('disabledAutomatically')
    expect((await ask(`POST ${path}/enable`)).body).toMatchObject({ state: 'enabled', changedFields: [] })
    const { changes } = (await ask('GET /v1/changes')).body
    expect(changes.slice(0, 2)).toMatchObject([
      { kind: 'destination', id, action: 'updated', by: 'ada', fields: ['enabled'] },
      { kind: 'destination', id, action: 'updated', by: byLifecycle, fields: ['enabled'] },
    ])
  })
})

describe('a destination of the file', () => {
  it('is not enabled with a wrong precondition', async () => {
    disable('filed')
    const refused = await ask('POST /v1/destinations/filed/enable', undefined, { ifMatch: 1 })
    expect(codes(refused)).toEqual([409, 'defined_in_file'])
    expect((await ask('GET /v1/destinations/filed')).body).toMatchObject({ state: 'disabled' })
  })

  it('is not enabled without a config topic', async () => {
    await start({ hasKey: false })
    expect(codes(await ask('POST /v1/destinations/filed/enable'))).toEqual([409, 'defined_in_file'])
  })
})

it('a disabled document is enabled together with the end of the automatic disabling', async () => {
  await create()
  disable('crm')
  expect((await ask('POST /v1/destinations/crm/disable')).body).toMatchObject({ version: 2, state: 'disabled' })
  expect((await ask('POST /v1/destinations/crm/enable')).body).toMatchObject({ version: 3, state: 'enabled' })
})
