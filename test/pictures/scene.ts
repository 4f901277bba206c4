import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { RunningService } from '../../deploy/tools/local/service-process.ts'
import { type Pipeline, startPipeline, trackEvents } from '../support/pipeline.ts'
import { type Customer, customerIds, type Endpoints, startEndpoints } from './endpoints.ts'

/** A service with some customers, and what may happen to it within minutes that somebody looks at its dashboards. */
export interface Scene {
  /** A process more. Resolves with the host and port where it is scraped. */
  join(): Promise<string>
  /** Load of so many seconds, with everything in it that the pictures are to show. */
  play(seconds: number): Promise<void>
  close(): Promise<void>
}

/** Which customers get the messages of which source; what fails for good has little of the whole. */
const sources: Readonly<Record<string, readonly Customer[]>> = {
  web: ['crm', 'warehouse', 'ads'],
  app: ['crm', 'warehouse', 'email'],
  office: ['warehouse', 'old-crm', 'staging'],
}

type Configuration = ReturnType<typeof configurationOf>

function configurationOf(endpoints: Endpoints) {
  const destination = (id: string, customer: Customer, more: object = {}): object => ({
    id,
    sources: Object.keys(sources).filter(source => sources[source]?.includes(customer)),
    webhooks: [{ url: endpoints.urlOf(customer) }],
    ...more,
  })
  return {
    // Short enough for a retry to come back, and for one to be given up, within the picture.
    delivery: { schedule: ['10s', '30s'] },
    sources: Object.keys(sources).map(id => ({ id, writeKey: `${id}-key` })),
    destinations: [
      ...customerIds.map(id => destination(id, id)),
      destination('partner', 'staging', { paused: true }),
      destination('trial', 'staging', { enabled: false }),
    ],
    audiences: { list: [{ name: 'Shoppers', kind: 'audience', destinations: ['crm', 'email'] }] },
  }
}

export async function openScene(): Promise<Scene> {
  const endpoints = await startEndpoints()
  const configuration = configurationOf(endpoints)
  const pipeline = await startPipeline({ ...configuration }).catch(async error => {
    await endpoints.close()
    throw error
  })
  const processes: RunningService[] = []
  return {
    async join() {
      const service = await pipeline.run()
      processes.push(service)
      return new URL(/\bops=(\S+)/.exec(service.ready)?.[1] ?? '').host
    },
    async play(seconds) {
      const collector = processes[0]?.collector
      if (collector === undefined) throw new Error('no process runs that takes messages')
      await Promise.all([
        load(pipeline, collector, seconds),
        ...incidents(pipeline, endpoints, configuration).map(async ({ at, happen }) => {
          await pause(at * seconds * 1_000)
          await happen()
        }),
      ])
    },
    async close() {
      await pipeline.close()
      await endpoints.close()
    },
  }
}

async function load(pipeline: Pipeline, collector: string, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++)
    await Promise.all([messages(pipeline, collector, second), pause(1_000)])
}

/** A second's messages: a tide of two minutes and a half, straight to Kafka and over HTTP, now and then one that cannot be read. */
async function messages(pipeline: Pipeline, collector: string, second: number): Promise<void> {
  const tide = 12 + 8 * Math.sin((2 * Math.PI * second) / 150)
  const few = Math.round(tide / 3)
  const send = (count: number, sourceId: string): Promise<void> =>
    pipeline.send(trackEvents(count, `${sourceId}-${second}`).map(event => ({ ...event, sourceId })))
  await Promise.all([send(Math.round(tide), 'web'), send(few, 'app'), send(second % 2, 'office')])
  await post(collector, [
    ...Array.from({ length: few }, (_, index) => ({ type: 'track', userId: `user-${index}`, event: 'Signed up' })),
    // Without the name of its event: one broken message costs that message.
    ...(second % 5 === 0 ? [{ type: 'track', userId: 'user-1' }] : []),
  ])
  if (second % 20 === 0)
    await pipeline.write(pipeline.topics.events, [{ key: null, value: Buffer.from('{'), headers: {} }])
}

interface Incident {
  /** The part of the whole that is over then. */
  readonly at: number
  happen(): Promise<unknown>
}

/** What happens beside the load: lists of an audience, an outage, a configuration that is refused, and its correction. */
function incidents(pipeline: Pipeline, endpoints: Endpoints, configuration: Configuration): readonly Incident[] {
  const members = join(dirname(pipeline.configFile), 'members.txt')
  const sync = async (size: number): Promise<void> => {
    await writeFile(members, Array.from({ length: size }, (_, index) => `user-${index}\n`).join(''))
    await pipeline.command('audience', 'sync', '--name', 'Shoppers', '--members', members)
  }
  return [
    { at: 0.1, happen: () => sync(150) },
    { at: 0.35, happen: () => endpoints.takeDown('ads') },
    { at: 0.4, happen: () => sync(400) },
    { at: 0.5, happen: () => writeFile(pipeline.configFile, '{ "kafka": ') },
    { at: 0.56, happen: () => pipeline.configure({ ...configuration, payload: { userAgent: 'Hookline-Shop' } }) },
    { at: 0.65, happen: () => endpoints.putBack('ads') },
    { at: 0.75, happen: () => sync(250) },
  ]
}

async function post(collector: string, batch: readonly object[]): Promise<void> {
  const response = await fetch(`${collector}/v1/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-write-key': 'web-key' },
    body: JSON.stringify({ batch }),
  })
  if (!response.ok) throw new Error(`the collector answered ${response.status}: ${await response.text()}`)
}
