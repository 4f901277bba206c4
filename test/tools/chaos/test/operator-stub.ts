import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RunningService } from '../../../../deploy/tools/local/hookline-process.ts'
import { closingAfterEach } from '../../../support/cleanup.ts'

const closing = closingAfterEach()

/** The stub stops after the test. */
export async function operatorStub(name: string, respond: RequestListener) {
  const server = createServer(respond)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing({
    async close() {
      server.closeAllConnections()
      server.close()
    },
  })
  const operator = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { name, service: { operator } as RunningService }
}
