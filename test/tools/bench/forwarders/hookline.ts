import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mallocSettings, nodeFlags, nodeFlagsForUndici } from '../../../../deploy/tools/local/node-flags.ts'
import type { SampleRequest } from '../receiver/receiver-protocol.ts'
import { type Forwarder, type ForwarderProcess, type Job, startNode, targetsOf } from './forwarder.ts'

const program = new URL('../../../../bin/hookline.js', import.meta.url).pathname
export const secret = 'bench-secret'

/** The dispatcher of Hookline with all features on. */
export const hooklineForwarder = (transport: string): Forwarder => ({
  name: `hookline ${transport}`,
  start: job =>
    startHookline(job, transport, 'dispatcher', {
      destinations: targetsOf(job).map(({ sourceId, url, policy }) => ({
        id: `to-${sourceId}`,
        sources: [sourceId],
        sharedSecret: secret,
        webhooks: [{ url }],
        ...(policy && { policy }),
      })),
    }),
})

/** Starts `hookline run` with a service. `own` has configuration keys for this process only. */
export async function startHookline(
  job: Job,
  transport: string,
  service: 'dispatcher' | 'operator',
  own: object,
): Promise<ForwarderProcess> {
  const { installation, inFlight, perWebhook = inFlight } = job
  const base = installation.base as { readonly delivery: object }
  const delivery = { transport, ordering: 'key', maxInFlight: inFlight, perWebhook, perHost: inFlight }
  const configuration = { ...base, delivery: { ...base.delivery, ...delivery }, ...own }
  const file = join(await mkdtemp(join(installation.directory, 'config-')), 'hookline.json')
  await writeFile(file, JSON.stringify(configuration, null, 2))
  const flags = transport === 'undici' ? nodeFlagsForUndici : nodeFlags
  return startNode(job, program, ['run', '--services', service, '--config', file], { flags, env: mallocSettings })
}

/**
 * Whether a request has its signature, message id and body. Without them, the measured CPU time
 * would be too low.
 */
export function isWhole({ headers, body }: SampleRequest): boolean {
  const signature = createHmac('sha1', secret).update(body, 'latin1').digest('hex')
  return (
    headers['x-signature'] === signature && headers['x-message-id'] !== undefined && body.startsWith('{"version":1')
  )
}

/** Transports that the configuration permits. */
export function transports(): readonly string[] {
  const schema = readFileSync(new URL('../../../../schemas/config.schema.json', import.meta.url), 'utf8')
  const found: unknown[] = []
  JSON.parse(schema, (key, value) => {
    if (key === 'transport') found.push(...enumsIn(value))
    return value
  })
  return found.filter(each => typeof each === 'string')
}

const enumsIn = (schema: { enum?: unknown[]; anyOf?: { enum?: unknown[] }[] }): unknown[] => [
  ...(schema.enum ?? []),
  ...(schema.anyOf ?? []).flatMap(each => each.enum ?? []),
]
