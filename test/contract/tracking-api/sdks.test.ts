import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Message } from '../../../src/core/message/message.ts'
import { RecordingCollector } from '../../support/collector/collector-with-recording-producer.ts'
import { startCollector } from '../../support/collector/raw-request-harness.ts'
import type { Call } from '../../support/sdks/calls.ts'
import { runSdk, type Sdk, sdks } from '../../support/sdks/run-sdk.ts'

const parts = ['properties', 'traits', 'integrations'] as const
const names = ['userId', 'anonymousId', 'event', 'name', 'category', 'groupId', 'previousId'] as const

const parsed = (text: string | undefined): Record<string, unknown> => (text === undefined ? {} : JSON.parse(text))
const isOf = (call: Call) => (message: Message) =>
  message.type === call.type && (call.type !== 'track' || message.event === call.event)

function expectAsGiven(message: Message | undefined, call: Call, addsTo: Sdk['addsTo']): void {
  if (message === undefined) throw new Error(`no ${call.type} ${call.event ?? ''}`)
  for (const name of names) if (call[name] !== undefined) expect([name, message[name]]).toEqual([name, call[name]])
  for (const part of parts) {
    const given = call[part] as Record<string, unknown> | undefined
    if (given === undefined) continue
    if (addsTo.includes(part === 'integrations' ? part : call.type)) expect(parsed(message[part])).toMatchObject(given)
    else expect(parsed(message[part])).toEqual(given)
  }
  if (call.context !== undefined) expect(parsed(message.context)).toMatchObject(call.context as Record<string, unknown>)
  if (call.timestamp !== undefined) expect(new Date(message.timestamp).toISOString()).toBe(call.timestamp)
}

type OnTheWire = Record<string, unknown> & { readonly messageId: string }

function expectAsSent(
  message: Message | undefined,
  { wire, batch }: { wire: OnTheWire; batch: Record<string, unknown> },
): void {
  if (message === undefined) throw new Error(`${wire.messageId} was lost`)
  for (const name of names) expect([name, message[name]]).toEqual([name, textOf(wire[name])])
  for (const part of ['properties', 'traits'] as const)
    if (wire[part] !== undefined) expect(parsed(message[part])).toEqual(wire[part])
  const { integrations: _, ...context } = {
    ...(batch['context'] as object),
    ...(wire['context'] as Record<string, unknown>),
  }
  expect(parsed(message.context)).toEqual(context)
  expect(parsed(message.integrations)).toEqual({
    ...(batch['integrations'] as object),
    ...(wire['integrations'] as object),
  })
  expect(message.timestamp).toBe(Date.parse(String(wire['timestamp'] ?? wire['originalTimestamp'])))
}

const textOf = (value: unknown): unknown => (value === null || value === '' ? undefined : value)

function onTheWire(body: string): { wire: OnTheWire; batch: Record<string, unknown> }[] {
  const batch = JSON.parse(body)
  return Array.isArray(batch.batch)
    ? batch.batch.map((wire: OnTheWire) => ({ wire, batch }))
    : [{ wire: batch, batch: {} }]
}

describe('published SDKs with their default options', () => {
  const collector = new RecordingCollector({ web: 'KEY' })
  let server: Awaited<ReturnType<typeof startCollector>>
  beforeAll(async () => {
    server = await startCollector(collector)
  })
  afterAll(() => server.stop())

  it.each(sdks)('$name: each stored message equals the call and the request', async ({ name, addsTo }) => {
    collector.forget()
    const calls = await runSdk(name, { url: server.url, writeKey: 'KEY' })
    expect(calls.length).toBeGreaterThanOrEqual(4)
    const messages = collector.messages()
    expect(messages).toHaveLength(calls.length)
    expect(collector.rejects()).toEqual([])
    for (const call of calls) expectAsGiven(messages.find(isOf(call)), call, addsTo)
    const sent = collector.requests.flatMap(({ body }) => onTheWire(body))
    expect(sent).toHaveLength(calls.length)
    for (const each of sent)
      expectAsSent(
        messages.find(({ messageId }) => messageId === each.wire.messageId),
        each,
      )
    expect(collector.events().every(({ sourceId }) => sourceId === 'web')).toBe(true)
  })

  it('no request of the SDKs was refused', async () => {
    expect(Object.keys(await server.answered()).sort()).toEqual(['ok', 'preflight'])
  })
})
