import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { createPost } from '../forwarders/reference-loop-post.ts'

const closing = closingAfterEach()
/** More than the 256 idle connections that a Node agent keeps by default. */
const inFlight = 300

async function startEndpoint() {
  const seen = { connections: 0, requests: 0, headers: new Set<string>() }
  // Idle connections stay open: on a slow machine, they could reach the default of 5 s.
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    seen.requests += 1
    for (const name of Object.keys(request.headers)) seen.headers.add(name)
    request.resume().on('end', () => response.end())
  })
  server.on('connection', () => {
    seen.connections += 1
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing({
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  })
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

// Unnecessary work would show here: a larger pool opens more connections, and decoding or retries
// add request headers.
it.each(['got', 'undici'] as const)(
  'with %s keeps one connection per request in progress, and sends only the needed headers',
  async client => {
    const { seen, url } = await startEndpoint()
    const post = createPost({ client, urls: [url], inFlight })
    const postOne = (): Promise<void> =>
      new Promise((resolve, reject) => {
        post(Buffer.from('event'), error => (error === undefined ? resolve() : reject(error)))
      })
    for (let round = 0; round < 2; round += 1) await Promise.all(Array.from({ length: inFlight }, postOne))
    expect({ requests: seen.requests, headers: [...seen.headers].toSorted() }).toEqual({
      requests: 2 * inFlight,
      headers: ['connection', 'content-length', 'content-type', 'host'],
    })
    expect(seen.connections).toBeLessThanOrEqual(inFlight)
  },
)
