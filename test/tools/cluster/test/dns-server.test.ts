import { Resolver } from 'node:dns/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { freePorts } from '../../../../deploy/tools/local/free-ports.ts'
import type { ApiClient } from '../api-client.ts'
import { readQuery } from '../dns-message.ts'
import { servicePath, startDns } from '../dns-server.ts'

describe('the DNS server of the cluster', () => {
  const api = {
    ask: async (_: string, path: string) =>
      path === '/api/v1/namespaces/kafka/services/kafka-bootstrap'
        ? { status: 200, body: { spec: { clusterIP: '10.96.7.200' } }, warnings: [] }
        : { status: 404, body: {}, warnings: [] },
  } as unknown as ApiClient
  const resolver = new Resolver({ timeout: 5_000, tries: 2 })
  let stop: () => Promise<void>

  beforeAll(async () => {
    const port = await freePorts(1)
    stop = await startDns(api, '127.0.0.1', port)
    resolver.setServers([`127.0.0.1:${port}`])
  })
  afterAll(async () => {
    await stop()
  })

  it('resolves the name of a Service', async () =>
    expect(await resolver.resolve4('kafka-bootstrap.kafka.svc.cluster.local')).toEqual(['10.96.7.200']))

  it('has no IPv6 address of a Service', async () => {
    await expect(resolver.resolve6('kafka-bootstrap.kafka.svc.cluster.local')).rejects.toMatchObject({
      code: 'ENODATA',
    })
  })

  it.each(['other.kafka.svc.cluster.local', 'example.com', 'kafka.svc.cluster.local'])(
    'does not know %s',
    async name => {
      await expect(resolver.resolve4(name)).rejects.toMatchObject({ code: 'ENOTFOUND' })
    },
  )
})

it.each([
  ['an empty message', Buffer.of()],
  ['a name without its end', Buffer.concat([Buffer.alloc(12), Buffer.from([3, 97])])],
  ['a pointer', Buffer.concat([Buffer.alloc(12), Buffer.from([0xc0, 12, 0, 1, 0, 1])])],
  ['a question without a type', Buffer.concat([Buffer.alloc(12), Buffer.from([1, 97, 0])])],
])('ignores %s', (_, message) => expect(readQuery(message)).toBeUndefined())

it('does not take a path for a name', () => expect(servicePath('a%2f.kafka.svc.cluster.local')).toBeUndefined())
