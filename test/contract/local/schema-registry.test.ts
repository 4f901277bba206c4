import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { type Registry, startRegistry } from '../../../deploy/tools/local/schema-registry.ts'

const subject = 'hookline.test-value'
const schema = (fields: readonly object[]) => ({ schema: JSON.stringify({ type: 'record', name: 'Test', fields }) })
const first = schema([{ name: 'a', type: 'string' }])
/**
 * A schema with the new field `b`, which has no default, so readers with this schema cannot read
 * older records.
 */
const breaking = schema([
  { name: 'a', type: 'string' },
  { name: 'b', type: 'string' },
])

async function register(registry: Registry, body: { schema: string }): Promise<{ status: number; id: unknown }> {
  const response = await fetch(`${registry.url}/subjects/${subject}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { id?: number }
  return { status: response.status, id: answer.id }
}

async function read(registry: Registry, path: string): Promise<unknown> {
  const response = await fetch(registry.url + path)
  return response.json()
}

describe('a local schema registry', () => {
  let dataDir: string
  let port: number
  let registry: Registry
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hookline-registry-test-'))
    port = await freePorts(1)
    registry = await startRegistry({ dataDir, port, store: 'file' })
  })
  afterAll(async () => {
    await registry.stop()
    await rm(dataDir, { recursive: true })
  })

  it('refuses schemas that Confluent refuses by default', async () => {
    expect(await register(registry, first)).toEqual({ status: 200, id: expect.any(Number) })
    expect(await read(registry, '/config')).toEqual({ compatibilityLevel: 'BACKWARD' })
    expect(await register(registry, breaking)).toEqual({ status: 409, id: undefined })
  })

  it.each(['stop', 'kill'] as const)('with the file store it has its schemas after %s and a restart', async end => {
    const { id } = await register(registry, first)
    await registry[end]()
    registry = await startRegistry({ dataDir, port, store: 'file' })
    expect(await read(registry, `/schemas/ids/${id}`)).toMatchObject(first)
  })

  it('refuses a port that is in use, before it starts anything', async () => {
    const other = join(dataDir, 'never-made')
    await expect(startRegistry({ dataDir: other, port, store: 'memory' })).rejects.toThrow(
      `The schema registry cannot listen on 127.0.0.1:${port}: the port is in use; stop the process that uses it`,
    )
    expect(existsSync(other)).toBe(false)
  })
})
