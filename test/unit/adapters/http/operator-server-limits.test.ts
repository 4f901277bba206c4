import { afterEach, expect, it } from '@jest/globals'
import { connect, type Wire } from '../../../support/network/raw-http-client.ts'
import { operatorKey, ScriptedOperatorApi } from '../../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../../support/operator/server.ts'

const wires: Wire[] = []
const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const wire of wires.splice(0)) wire.reset()
  for (const stop of stops.splice(0)) await stop()
})

async function started(options: Parameters<typeof startOperator>[1] = {}): Promise<string> {
  const { url, stop } = await startOperator(new ScriptedOperatorApi(), options)
  stops.push(stop)
  return url
}

async function connected(url: string): Promise<Wire> {
  const wire = await connect(url)
  wires.push(wire)
  return wire
}

it('reads a message id of 10,000 characters', async () => {
  const headers = { authorization: `Bearer ${operatorKey}` }
  const { status } = await fetch(`${await started()}/v1/messages/${'m'.repeat(10_000)}`, { headers })
  expect(status).toBe(200)
})

it('accepts a new connection when one address has all others and does not read its responses', async () => {
  const url = await started()
  for (let count = 0; count < 64; count += 1)
    await (await connected(url)).send('GET /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(4))
  const last = await connected(url)
  await last.send('GET /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n')
  expect((await last.answer('GET')).status).toBe(200)
})
