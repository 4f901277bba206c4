import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { selfSigned } from '../network/certificates.ts'
import { startInstallation, trackEvents, webKey } from '../process/test-installation.ts'
import { testSecret } from '../secret-scan/make-and-find-test-secrets.ts'
import { RecordingReceiver } from '../webhook/recording-receiver.ts'

/** A service with endpoints of every kind, and a small load that changes every metric. */
export interface ObservedService {
  readonly target: string
  load(): Promise<void>
  /** Sends some messages that are delivered at the first attempt. */
  loadWithoutFault(): Promise<void>
  close(): Promise<void>
}

/** The statuses of each endpoint's responses, in order. The last one repeats. */
const answers = { well: [200], heals: [503, 200], gone: [410], fails: [500], untrusted: [200], limits: [429] } as const
type Endpoint = keyof typeof answers
/** The endpoints of all messages of the source `web`. */
const onEverything: readonly Endpoint[] = ['well', 'gone', 'fails', 'untrusted', 'limits']

async function startEndpoints(): Promise<ReadonlyMap<string, RecordingReceiver>> {
  const tls = selfSigned()
  const started = Object.entries(answers).map(async ([id, own]) => {
    const receiver = await RecordingReceiver.started({
      answers: [...own],
      ...(id === 'untrusted' && { tls }),
      // After the 429, Hookline pauses the destination for 5 s, so several scrapes see the pause.
      ...(id === 'limits' && { retryAfter: 5 }),
    })
    return [id, receiver] as const
  })
  return new Map(await Promise.all(started))
}

export async function startObserved(): Promise<ObservedService> {
  const endpoints = await startEndpoints()
  const closeEndpoints = (): Promise<unknown> => Promise.all([...endpoints.values()].map(receiver => receiver.close()))
  const target = `127.0.0.1:${await freePorts(1)}`
  const urlOf = (id: Endpoint): string => endpoints.get(id)?.url ?? ''
  const destination = (id: string, endpoint: Endpoint, more: object = {}): object => ({
    ...{ id, sources: ['web'], webhooks: [{ url: urlOf(endpoint) }] },
    ...more,
  })
  const configuration = {
    ops: { listen: target },
    delivery: { schedule: ['1s', '1s'] },
    sources: ['web', 'rare', 'steady'].map(id => ({ id, writeKey: id === 'web' ? webKey : `${id}-key` })),
    destinations: [
      ...onEverything.map(id => destination(id, id)),
      // The source `rare` has too few messages to open the circuit breaker, which would delay the
      // retries.
      destination('heals', 'heals', { sources: ['rare'] }),
      destination('steady', 'well', { sources: ['steady'] }),
      destination('paused', 'well', { paused: true }),
      destination('off', 'well', { enabled: false }),
      destination('tokenless', 'well', {
        auth: {
          oauth2: { tokenUrl: urlOf('fails'), clientId: 'hookline', clientSecret: testSecret('observed-client') },
        },
      }),
    ],
    canary: { destination: 'steady', every: '1s' },
    operator: { listen: '127.0.0.1:0', keys: [{ name: 'ada', role: 'read', key: testSecret('observed-key') }] },
    audiences: { list: [{ name: 'Shoppers', kind: 'audience', destinations: ['well'] }] },
  }
  const installation = await startInstallation(configuration).catch(async error => {
    await closeEndpoints()
    throw error
  })
  const service = await installation.run()
  const members = join(installation.configFile, '..', 'members.txt')
  const send = (sourceId: string, count: number, prefix: string): Promise<void> =>
    installation.send(trackEvents(count, prefix).map(event => ({ ...event, sourceId })))
  let rounds = 0
  let steadyRounds = 0

  return {
    target,
    async load() {
      rounds += 1
      await send('web', 5, `round-${rounds}`)
      await send('rare', 1, `rare-${rounds}`)
      await installation.write(installation.topics.events, [{ key: null, value: Buffer.from('{'), headers: {} }])
      await post(`${service.collector}/v1/batch`, [
        { type: 'track', userId: 'u', event: 'Signed up' },
        { type: 'track', userId: 'u' },
      ])
      if (rounds > 2) return
      await writeFile(members, `user-1\nuser-${rounds + 1}\n`)
      await installation.command('audience', 'sync', '--name', 'Shoppers', '--members', members)
    },
    async loadWithoutFault() {
      steadyRounds += 1
      await send('steady', 5, `steady-${steadyRounds}`)
    },
    async close() {
      await installation.close()
      await closeEndpoints()
    },
  }
}

async function post(url: string, batch: readonly object[]): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-write-key': webKey },
    body: JSON.stringify({ batch }),
  })
  if (!response.ok) throw new Error(`the collector answered ${response.status}: ${await response.text()}`)
}
