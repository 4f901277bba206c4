import { describe, expect, it } from '@jest/globals'
import { Conditions } from '../support/awaited-conditions.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { startInstallation } from '../support/process/test-installation.ts'
import type { Call } from '../support/sdks/calls.ts'
import { runSdk, type Sdk, sdks } from '../support/sdks/run-sdk.ts'
import { startSink } from '../support/webhook/sink.ts'

const closing = closingAfterEach()

type Body = Record<string, unknown>

/** Whether a body is from this call. The bodies of other SDKs arrive at other paths. */
const isOf = (call: Call) => (body: Body) =>
  body['type'] === call.type && (call.type !== 'track' || body['event'] === call.event)

function expectDelivered(body: Body | undefined, call: Call, addsTo: Sdk['addsTo']): void {
  if (body === undefined) throw new Error(`no ${call.type} ${call.event ?? ''}`)
  const { type, userId, anonymousId, previousId, event, groupId, name, category, traits, timestamp, context } = call
  const who =
    type === 'alias'
      ? { 'Previous ID': previousId, 'User ID': userId }
      : userId === undefined
        ? { anonymousId }
        : { userId }
  const folded = { ...(name !== undefined && { name }), ...(category !== undefined && { category }) }
  const properties = { ...call.properties, ...(type === 'page' && folded) }
  expect(body).toMatchObject({
    version: 1,
    type,
    ...who,
    ...(event !== undefined && { event }),
    ...(groupId !== undefined && { groupId }),
    ...(type === 'screen' && name !== undefined && { name }),
    ...(timestamp !== undefined && { timestamp }),
    ...(context !== undefined && { context }),
    ...(traits !== undefined && { traits }),
    ...(call.properties !== undefined && { properties }),
  })
  if (addsTo.includes(type)) return
  if (traits !== undefined) expect(body['traits']).toEqual(traits)
  if (call.properties !== undefined) expect(body['properties']).toEqual(properties)
}

describe('messages of unmodified SDKs', () => {
  it('arrive at the webhook one by one, as the caller passed them to the SDK', async () => {
    const arrived = new Conditions()
    const bodies = new Map<string, Body[]>(sdks.map((_, index) => [`/${index}`, []]))
    const { url } = await startSink({
      onRequest: ({ path, body }) => {
        bodies.get(path)?.push(JSON.parse(body))
        arrived.changed()
      },
    })
    const installation = closing(
      await startInstallation({
        sources: sdks.map((_, index) => ({ id: `sdk-${index}`, writeKey: `key-${index}` })),
        destinations: sdks.map((_, index) => ({
          id: `hook-${index}`,
          sources: [`sdk-${index}`],
          webhooks: [{ url: `${url}/${index}` }],
        })),
      }),
    )
    const service = await installation.run({}, ['--services', 'collector,dispatcher'])
    for (const [index, { name, addsTo }] of sdks.entries()) {
      const calls = await runSdk(name, { url: service.collector ?? '', writeKey: `key-${index}` })
      const delivered = bodies.get(`/${index}`) ?? []
      await arrived.until(() => delivered.length >= calls.length)
      expect([name, delivered.length]).toEqual([name, calls.length])
      for (const call of calls) expectDelivered(delivered.find(isOf(call)), call, addsTo)
    }
    expect(await service.stop()).toBe(0)
  })
})
