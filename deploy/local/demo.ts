import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Presets, SingleBar } from 'cli-progress'
import { createEventCodec } from '../../src/adapters/avro.ts'
import { systemClock as clock } from '../../src/adapters/clock.ts'
import { loadConfigFile } from '../../src/adapters/config-file.ts'
import type { SinkRequest } from '../../src/adapters/http/sink.ts'
import { createKafka } from '../../src/adapters/kafka/client.ts'
import { createProducer } from '../../src/adapters/kafka/producer.ts'
import { createLogger } from '../../src/adapters/logger.ts'
import { createRegistry } from '../../src/adapters/registry.ts'
import { keyOf } from '../../src/core/message/event.ts'
import { type MessageType, messageTypes } from '../../src/core/message/message.ts'
import { topicNames } from '../../src/core/topics.ts'
import { startEndpoints } from './demo-endpoints.ts'
import { report, type Seen } from './demo-report.ts'
import { deliveryCount, demoConfiguration, demoEvents, destinations, messageCount } from './demo-scenario.ts'
import { findOrStartKafka, findOrStartRegistry } from './infrastructure.ts'
import { hookline, type RunningService, startService } from './service-process.ts'

/* The main job, on real parts: what is printed here happened. Exits 0 only when every number is right. */

const patienceMs = 90_000
const say = (line = ''): void => void process.stdout.write(`${line}\n`)
const step = (what: string, detail: string): void => say(`  ${what.padEnd(12)} ${detail}`)
const requests = new Map<string, SinkRequest[]>(destinations.map(({ id }) => [id, []]))
const ends: (() => Promise<unknown>)[] = []

/** Shows the first delivery of each type, and the whole life of one message at the flaky endpoint. */
function show(destination: string, request: SinkRequest): void {
  requests.get(destination)?.push(request)
  const { type } = JSON.parse(request.body) as { type: string }
  const signature = request.signatureValid === true ? 'signature valid' : 'signature BAD'
  const time = new Date(request.at).toISOString().slice(11, 23)
  if (destination === 'crm' && request.messageId?.startsWith('web-') && request.messageId.endsWith('-000'))
    say(`  ${time}  crm    200  ${type.padEnd(8)}  ${signature}  ${request.body}`)
  if (destination === 'flaky' && request.messageId === 'app-track-000')
    say(`  ${time}  flaky  ${request.answer}  ${type.padEnd(8)}  ${signature}  ${request.messageId}`)
}

async function produce(config: string): Promise<void> {
  const loaded = await loadConfigFile(config, process.env)
  if (loaded.kind === 'refused') throw new Error(loaded.problems.map(problem => problem.message).join('\n'))
  const { settings } = loaded
  const topics = topicNames(settings.topics.prefix)
  const logger = createLogger('error')
  const codec = await createEventCodec({
    registry: createRegistry(settings.registry),
    eventsTopic: topics.events,
    clock,
  })
  const producer = createProducer({ kafka: createKafka(settings.kafka, logger), clock, logger })
  const append = (type: MessageType): Promise<unknown> =>
    Promise.all(
      demoEvents(type, clock.now()).map(
        event =>
          new Promise<void>((resolve, reject) => {
            const record = { key: Buffer.from(keyOf(event.message) ?? ''), value: codec.encode(event), headers: {} }
            producer.append(topics.events, record, error => (error === undefined ? resolve() : reject(error)))
          }),
      ),
    )
  for (const type of messageTypes) {
    await append(type)
    step('sent', `${demoEvents(type, 0).length} ${type}, acknowledged by Kafka`)
  }
  await producer.stop()
}

const settled = (metrics: ReadonlyMap<string, number>, id: string, result: string): number =>
  metrics.get(`hookline_deliveries_total{destination="${id}",result="${result}"}`) ?? 0

function callsTo(metrics: ReadonlyMap<string, number>, id: string): number {
  const own = [...metrics].filter(([name]) => name.startsWith(`hookline_webhook_calls_total{destination="${id}"`))
  return own.reduce((sum, [, calls]) => sum + calls, 0)
}

/** Waits until every delivery has ended one way or the other. */
async function untilAllEnded(service: RunningService): Promise<void> {
  const total = deliveryCount
  const bar = process.stdout.isTTY
    ? new SingleBar({ format: '  {bar} {value}/{total} deliveries ended' }, Presets.shades_classic)
    : undefined
  bar?.start(total, 0)
  const giveUpAt = clock.monotonic() + patienceMs
  let ended = 0
  for (let told = -1; ended < total && clock.monotonic() < giveUpAt; ) {
    const metrics = await service.metrics()
    ended = destinations.reduce(
      (sum, { id }) => sum + settled(metrics, id, 'delivered') + settled(metrics, id, 'dead_lettered'),
      0,
    )
    bar?.update(ended)
    if (bar === undefined && ended !== told) step('ended', `${ended} of ${total} deliveries`)
    told = ended
    if (ended < total)
      await new Promise<void>(resolve => clock.after(500 as Parameters<typeof clock.after>[0], resolve))
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
  await writeFile(
    config,
    JSON.stringify(
      demoConfiguration({ brokers: kafka.brokers, registry: registry.url, prefix, urls: endpoints.urls }),
      null,
      2,
    ),
  )
  await hookline(config, ['topics', 'apply'])
  await hookline(config, ['schemas', 'register'])
  step('topics', 'created; schemas registered')
  const service = await startService(config, join(directory, 'service.log'))
  ends.push(service.stop)
  step('service', service.ready)
  say()
  await produce(config)
  say()
  await untilAllEnded(service)
  const metrics = await service.metrics()
  const result = report(await seenOf(config, metrics))
  say()
  for (const line of result.lines) say(line)
  return result.allRight
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
} finally {
  for (const end of ends.reverse()) await end()
}
