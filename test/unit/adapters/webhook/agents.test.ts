import { once } from 'node:events'
import http from 'node:http'
import { afterEach, expect, it } from '@jest/globals'
import { createAgents } from '../../../../src/adapters/webhook/agents.ts'
import { createConnections } from '../../../../src/adapters/webhook/connections.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { answer, answering, type ScriptedReceiver, startReceiver } from '../../../support/scripted-receiver.ts'

let target: ScriptedReceiver
afterEach(() => target.close())

it('a connection is not used again once it is five minutes old', async () => {
  target = await startReceiver(answering(answer(200)))
  const clock = new ManualClock()
  const network = { allow: ['127.0.0.1'], ports: undefined, ca: undefined }
  const resolve = () => Promise.reject(new Error('no name here'))
  const agents = createAgents({ network: () => network, resolve, connections: createConnections(clock) })
  const call = async () => {
    const request = http.request(target.url(), { method: 'POST', agent: agents.shared().http }).end()
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    response.resume()
    await once(request, 'close')
  }

  await call()
  await clock.advance(299_999)
  await call()
  await clock.advance(1)
  // Taken while it was young; put back when it was too old.
  await call()
  await call()
  expect(target.requests.map(({ connection }) => connection)).toEqual([1, 1, 1, 2])
  agents.close()
})
