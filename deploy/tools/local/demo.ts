import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Presets, SingleBar } from 'cli-progress'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import type { SinkRequest } from '../../../src/adapters/http/sink-server.ts'
import { messageTypes } from '../../../src/core/message/message.ts'
import { deliveryCount, demoConfiguration, destinations, messageCount, operatorKey } from './demo-configuration.ts'
import { type DemoEndpoints, startEndpoints } from './demo-endpoints.ts'
import { deletedUsers, wayOf } from './demo-messages.ts'
import { playSequel } from './demo-replay-audience-deletion.ts'
import { report, type Seen } from './demo-report.ts'
import { type Entered, type Entrances, sendAll } from './demo-senders.ts'
import { hookline, type RunningService, startService } from './hookline-process.ts'
import { findOrStartKafka, findOrStartRegistry } from './kafka-and-registry.ts'

/*
 * `make demo`: runs the services against real Kafka and endpoints. Exits with 0 only if all figures
 * are as expected.
 */

const timeoutMs = 90_000
const say = (line = ''): void => void process.stdout.write(`${line}\n`)
const step = (what: string, detail: string): void => say(`  ${what.padEnd(12)} ${detail}`)
const requests = new Map<string, SinkRequest[]>(destinations.map(({ id }) => [id, []]))
const ends: (() => Promise<unknown>)[] = []

/**
 * Prints the first delivery of each type, and all attempts of one message at the flaky endpoint.
 */
function show(destination: string, request: SinkRequest): void {
  requests.get(destination)?.push(request)
  const { type, userId } = JSON.parse(request.body) as { type: string; userId?: string }
  const signature = request.signatureValid === true ? 'signature valid' : 'signature BAD'
  const time = new Date(request.at).toISOString().slice(11, 23)
  const { messageId = '' } = request
  const isShown = /^web-.*-000$/.test(messageId) || userId === deletedUsers[0]
  if (destination === 'crm' && isShown)
    say(`  ${time}  crm    200  ${type.padEnd(8)}  ${signature}  via ${wayOf(messageId).padEnd(9)}  ${request.body}`)
  if (destination === 'flaky' && messageId === 'app-track-000')
    say(`  ${time}  flaky  ${request.answer}  ${type.padEnd(8)}  ${signature}  ${messageId}`)
}

/** @throws Error when the collector has not accepted exactly the messages that its clients sent */
async function enter(service: RunningService, to: Omit<Entrances, 'collector'>): Promise<Entered> {
  if (service.collector === undefined) throw new Error('the service has no collector')
  const entered = await sendAll({ ...to, collector: service.collector }, line => step('sent', line))
  const metrics = await service.metrics()
  const taken = [...metrics].filter(([name]) => /^hookline_collector_messages_total{.*result="accepted"/.test(name))
  const collector = taken.reduce((sum, [, messages]) => sum + messages, 0)
  if (collector !== entered.collector)
    throw new Error(`the collector accepted ${collector} messages, but its clients sent ${entered.collector}`)
  return entered
}

const settled = (metrics: ReadonlyMap<string, number>, id: string, result: string): number =>
  metrics.get(`hookline_deliveries_total{destination="${id}",result="${result}"}`) ?? 0

function callsTo(metrics: ReadonlyMap<string, number>, id: string): number {
  const own = [...metrics].filter(([name]) => name.startsWith(`hookline_webhook_calls_total{destination="${id}"`))
  return own.reduce((sum, [, calls]) => sum + calls, 0)
}

/** Waits until every delivery is delivered or dead-lettered. */
async function untilAllEnded(service: RunningService): Promise<void> {
  const total = deliveryCount
  const bar = process.stdout.isTTY
    ? new SingleBar({ format: '  {bar} {value}/{total} deliveries finished' }, Presets.shades_classic)
    : undefined
  bar?.start(total, 0)
  const deadline = clock.monotonic() + timeoutMs
  let ended = 0
  for (let printed = -1; ended < total && clock.monotonic() < deadline; ) {
    const metrics = await service.metrics()
    ended = destinations.reduce(
      (sum, { id }) => sum + settled(metrics, id, 'delivered') + settled(metrics, id, 'dead_lettered'),
      0,
    )
    bar?.update(ended)
    if (bar === undefined && ended !== printed)
      step('finished', `${ended} of ${total} deliveries are delivered or dead-lettered`)
    printed = ended
    if (ended < total) await setTimeout(500)
  }
  bar?.stop()
}

async function seenOf(config: string, metrics: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, Seen>> {
  const listed = (await hookline(config, ['dead-letters', '--json'])).split('\n').filter(Boolean)
  const deadLetters = listed.map(line => JSON.parse(line) as { destination: string; reason: string })
  return new Map(
    destinations.map(({ id }) => {
      const own = deadLetters.filter(({ destination }) => destination === id)
      const got = requests.get(id) ?? []
      return [
        id,
        {
          delivered: settled(metrics, id, 'delivered'),
          retried: settled(metrics, id, 'retried'),
          calls: callsTo(metrics, id),
          deadLettered: own.length,
          reasons: [...new Set(own.map(({ reason }) => reason))],
          requests: got.length,
          badSignatures: got.filter(({ signatureValid }) => signatureValid !== true).length,
          messages: new Set(got.filter(({ answer }) => answer === 200).map(({ messageId }) => messageId)).size,
        },
      ]
    }),
  )
}

/** A reload takes up to 5 seconds. */
async function untilReloaded(service: RunningService): Promise<void> {
  const deadline = clock.monotonic() + timeoutMs
  const reloads = async () => (await service.metrics()).get('hookline_config_reloads_total{result="applied"}') ?? 0
  while ((await reloads()) === 0 && clock.monotonic() < deadline) await setTimeout(200)
}

async function main(): Promise<boolean> {
  say(
    `Hookline demo: ${messageCount} messages of ${messageTypes.length} types to ${destinations.length} destinations, on a real Kafka, over real HTTP and TLS\n`,
  )
  const log = (line: string): void => step('', line)
  const directory = await mkdtemp(join(tmpdir(), 'hookline-demo-'))
  ends.push(() => rm(directory, { recursive: true, force: true }))
  const [kafka, registry] = await Promise.all([findOrStartKafka({ log }), findOrStartRegistry({ log })])
  ends.push(kafka.stop, registry.stop)
  step('kafka', kafka.brokers.join(', '))
  step('registry', registry.url)
  const endpoints = await startEndpoints(show)
  ends.push(endpoints.stop)
  const config = join(directory, 'hookline.json')
  const prefix = `hookline-demo-${process.pid}`
  const place = { brokers: kafka.brokers, registry: registry.url, prefix }
  const configure = (urls: DemoEndpoints['urls']): Promise<void> =>
    writeFile(config, JSON.stringify(demoConfiguration({ ...place, urls }), null, 2))
  await configure(endpoints.urls)
  await hookline(config, ['topics', 'apply'])
  await hookline(config, ['schemas', 'register'])
  step('topics', 'created, and schemas registered')
  const service = await startService(config, join(directory, 'service.log'))
  ends.push(service.stop)
  step('service', service.ready)
  step('console', `${service.operator}/console/ until the demo ends; the operator key is ${operatorKey}`)
  say()
  const entrances = { config, brokers: kafka.brokers, registry: registry.url, topicPrefix: prefix }
  const entered = await enter(service, entrances)
  say()
  await untilAllEnded(service)
  const result = report(await seenOf(config, await service.metrics()), entered)
  say()
  for (const line of result.lines) say(line)
  say()
  const wrong = await playSequel({
    ...{ config, directory, service, say: step },
    requestsTo: id => requests.get(id) ?? [],
    async repair() {
      await configure(endpoints.repaired)
      await untilReloaded(service)
    },
  })
  for (const each of wrong) say(`WRONG  ${each}`)
  const allRight = result.allRight && wrong.length === 0
  if (allRight) say('\nAll figures are as expected.')
  return allRight
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
} finally {
  for (const end of ends.reverse()) await end()
}
