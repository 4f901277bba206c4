import { beforeEach } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { closingAfterEach } from '../cleanup.ts'
import { ManualClock } from '../manual-clock.ts'
import { type MemoryObjects, memoryObjects } from './memory-objects.ts'
import { objectsApi } from './memory-objects-api.ts'
import { ScriptedOperatorApi } from './scripted-deletion-and-audience-api.ts'
import { askObjects, type ObjectAnswer } from './send-operator-api-request.ts'
import { startOperator } from './server.ts'

const closing = closingAfterEach()

export const secretOfCrm = 'a-shared-secret-of-crm'
/**
 * A destination with three secrets: the shared secret, a token in the URL, and a credential in a
 * header.
 */
export const crm = {
  sources: ['web'],
  sharedSecret: secretOfCrm,
  webhooks: [
    { id: 'main', url: 'https://crm.example.com/hooks/T0KEN', headers: { Authorization: 'Bearer c0nfidential' } },
  ],
}
export const clock = new ManualClock()

/** Each test gets a new server and log. */
export const served = {} as { server: Awaited<ReturnType<typeof startOperator>>; memory: MemoryObjects }

export async function start(options: Parameters<typeof memoryObjects>[1] = {}): Promise<void> {
  served.memory = await memoryObjects(clock, options)
  const objects = await objectsApi({ memory: served.memory, clock })
  const server = await startOperator(new ScriptedOperatorApi(), {
    objects,
    clock: { ...processClock, now: () => clock.now() },
  })
  served.server = server
  closing({ close: () => server.stop() })
}

export function serveObjectsForEach(): void {
  beforeEach(() => start())
}

export const ask = (line: string, ...more: [unknown?, Parameters<typeof askObjects>[3]?]): Promise<ObjectAnswer> =>
  askObjects(served.server, line, ...more)
export const create = (id = 'crm', document: object = crm): Promise<ObjectAnswer> =>
  ask(`PUT /v1/destinations/${id}`, document, { ifNoneMatch: '*' })
export const codes = ({ status, body }: ObjectAnswer): unknown[] => [status, body?.code]
