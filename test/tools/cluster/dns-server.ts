import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { ApiClient } from './api-client.ts'
import { type Query, type Result, readQuery, writeResponse } from './dns-message.ts'

const domain = '.svc.cluster.local'

/**
 * Starts a DNS server that knows only the Services of the API server. Resolves with a function that
 * stops it.
 */
export async function startDns(api: ApiClient, address: string, port = 53): Promise<() => Promise<void>> {
  const socket = createSocket('udp4')
  let isClosed = false
  socket.on('error', () => undefined)
  socket.on('message', (message, { address: client, port: clientPort }) => {
    const query = readQuery(message)
    if (query === undefined) return
    void resultOf(api, query).then(
      result => isClosed || socket.send(writeResponse(message, query, result), clientPort, client),
      // After an error, the server sends no response, and the client repeats its query.
      () => undefined,
    )
  })
  socket.bind(port, address)
  await once(socket, 'listening')
  return async () => {
    isClosed = true
    const closed = once(socket, 'close')
    socket.close()
    await closed
  }
}

async function resultOf(api: ApiClient, { name, isForAddress }: Query): Promise<Result> {
  const path = servicePath(name)
  if (path === undefined) return 'no name'
  const { status, body } = await api.ask('GET', path)
  if (status === 404) return 'no name'
  if (status !== 200) throw new Error(`${path}: status ${status}`)
  const { clusterIP } = body['spec'] as { readonly clusterIP: string }
  return isForAddress ? { address: clusterIP } : 'no data'
}

/**
 * Returns the API path of the Service `name.namespace.svc.cluster.local`. Undefined for other
 * names.
 */
export function servicePath(name: string): string | undefined {
  const labels = name.endsWith(domain) ? name.slice(0, -domain.length).split('.') : []
  const [service, namespace] = labels
  if (labels.length !== 2 || !labels.every(label => /^[a-z0-9-]+$/.test(label))) return undefined
  return `/api/v1/namespaces/${namespace}/services/${service}`
}
