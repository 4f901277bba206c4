import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import type { CallResult } from '../../../src/core/webhook-ports.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  caller,
  loopbackOnly,
  receiver,
  scriptedResolver,
} from './tested-transports-and-servers.ts'

const authority = createAuthority()
const network = { ...loopbackOnly, ca: authority.cert }

interface Counted {
  readonly connections: number
  readonly fullHandshakes: number
  readonly requests: number
}

const closing = closingAfterEach()

async function answeringProcess() {
  const child = fork(join(import.meta.dirname, 'https-endpoint-process.ts'), [JSON.stringify(authority.issue())])
  closing({ close: async () => child.kill('SIGKILL') })
  const [port] = await once(child, 'message')
  return {
    url: `https://127.0.0.1:${port}/`,
    async counted(): Promise<Counted> {
      child.send('count')
      const [counted] = await once(child, 'message')
      return counted
    },
  }
}

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe.each(adapters)('%s: while the event loop is busy', (_, create) => {
  it('keeps an HTTPS connection whose response arrives before the write is confirmed', async () => {
    const target = await answeringProcess()
    const { post } = caller(create, { network })
    for (let call = 0; call < 100; call++) {
      // Blocks the event loop before Node confirms the write of the request, so that the response
      // arrives first.
      await turn()
      const result = post(target.url)
      await turn()
      block(3)
      expect(await result).toEqual(answered(200))
    }
    expect(await target.counted()).toEqual({ connections: 1, fullHandshakes: 1, requests: 100 })
  })

  it('opens at most two HTTPS connections for each request in progress', async () => {
    const target = await answeringProcess()
    const { post } = caller(create, { network })
    const inProgress = 16
    for (let round = 0; round < 30; round++) {
      await turn()
      const results: Promise<CallResult>[] = Array.from({ length: inProgress }, () => post(target.url))
      await turn()
      block(5)
      for (const result of await Promise.all(results)) expect(result).toEqual(answered(200))
    }
    const { connections, requests } = await target.counted()
    expect(requests).toBe(30 * inProgress)
    expect(connections).toBeLessThanOrEqual(2 * inProgress)
  })

  it('reaches a host that connected while the event loop was blocked, and whose other address is dead', async () => {
    // The transport waits 2 s before it tries the other address. If the machine itself stopped for
    // this time, the result shows nothing, and the test begins again.
    for (let tookMs = 2_000; tookMs >= 2_000; ) {
      const target = await receiver(answering(answer(200)))
      let connectsAt: number | undefined
      const { resolver } = scriptedResolver(() => {
        // Blocks the process while the transport connects to the first address.
        if (connectsAt === undefined) setImmediate(block, 900)
        connectsAt ??= performance.now()
        return [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ]
      })
      const { post } = caller(create, { resolver })
      const result = await post(target.url('/', 'crm.example.com'))
      tookMs = performance.now() - (connectsAt ?? 0)
      if (tookMs >= 2_000) continue
      expect(result).toEqual(answered(200))
      expect(target.connections()).toBe(1)
    }
  })
})
