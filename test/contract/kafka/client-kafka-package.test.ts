import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { hostScript } from '../../support/client/kafkajs-unchanged-script.ts'
import { type Consumer, installPacked } from '../../support/client/packed-library.ts'
import { newRealEventsTopic, type RealEventsTopic } from '../../support/kafka/real-events-topic.ts'

let consumer: Consumer
beforeAll(async () => {
  consumer = await installPacked('@hookline/client', '@hookline/client-kafka')
})
afterAll(() => consumer.close())

async function preparedPlace(): Promise<RealEventsTopic> {
  const place = newRealEventsTopic()
  await Promise.all([place.createTopic(), place.registerSchema()])
  return place
}

const script = (options: object, more = '') => `
  import { Analytics } from '@hookline/client'
  import { kafkaTransport } from '@hookline/client-kafka'
  const analytics = new Analytics({ transport: kafkaTransport(${JSON.stringify(options)}), flushAfter: 3_600_000, ${more} })
  for (let n = 0; n < 50; n += 1) analytics.track({ userId: 'u', event: 'E' + n })
`
const required = (text: string): string => text.replaceAll(/import (.*) from (.*)/g, 'const $1 = require($2)')
const events = async (place: RealEventsTopic) => (await place.events()).map(({ event }) => event.message.event)
const all = Array.from({ length: 50 }, (_, n) => `E${n}`)

describe('a script', () => {
  it.each([
    ['ES module', 'script.mjs', (text: string) => text],
    ['CommonJS', 'script.cjs', required],
  ])('%s: exits by itself when all messages are sent, in order', async (_, file, turn) => {
    const place = await preparedPlace()
    await consumer.write(file, turn(script(place.options)))
    const { code, stdout, stderr } = await consumer.node(file)
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await events(place)).toEqual(all)
  })

  it('exits without a broker and prints the number of undelivered messages', async () => {
    const place = newRealEventsTopic([`127.0.0.1:${await freePorts(1)}`])
    await place.registerSchema()
    await consumer.write('dead.mjs', script(place.options, 'exitTimeoutMs: 300'))
    const { code, stderr } = await consumer.node('dead.mjs')
    expect(stderr).toMatch(/^hookline analytics: 50 messages not delivered: out_of_time [^\n]*\n$/)
    expect(code).toBe(0)
  })

  it('prints kafkajs’s log lines with DEBUG=analytics', async () => {
    const place = newRealEventsTopic([`127.0.0.1:${await freePorts(1)}`])
    await place.registerSchema()
    await consumer.write('debug.mjs', script(place.options, 'exitTimeoutMs: 5_000'))
    const { stderr } = await consumer.node('debug.mjs', { DEBUG: 'analytics' })
    expect(stderr).toMatch(/^analytics: kafkajs: .*ECONNREFUSED/m)
  })
})

describe("the application's kafkajs", () => {
  async function run(kafkajs: 'before' | 'after' | 'only', options: object) {
    const use = `
      const { Analytics } = await import('@hookline/client')
      const analytics = new Analytics({ transport: hookline.kafkaTransport(${JSON.stringify(options)}) })
      analytics.track({ userId: 'u', event: 'E' })
      await analytics.close()
    `
    await consumer.write('host.mjs', hostScript({ library: '@hookline/client-kafka', kafkajs, use }))
    const { code, stdout, stderr } = await consumer.node('host.mjs')
    return { code, stderr, ...(JSON.parse(stdout || '{}') as { readonly text?: string }) }
  }

  it.each(['before', 'after'] as const)('imported %s the package is unchanged after a delivery', async order => {
    const place = await preparedPlace()
    const { text } = await run('only', place.options)
    const untouched = { none: 0, sameCache: true, same: true, sameText: true, files: true }
    expect(await run(order, place.options)).toEqual({ code: 0, stderr: '', ...untouched, text })
    expect(await events(place)).toEqual(['E'])
  })
})

it('names an invalid option, also in CommonJS', async () => {
  const text = `require('@hookline/client-kafka').kafkaTransport({ source: 'web', brokers: ['kafka'], registry: { url: 'http://r' } })`
  await consumer.write('wrong.cjs', text)
  const { code, stderr } = await consumer.node('wrong.cjs')
  expect(code).toBe(1)
  expect(stderr).toContain("ConfigError: 'brokers[0]' must be host:port, for example kafka:9092.")
})

describe('the types, without Node’s and with all checks', () => {
  const uses = `
    const options: KafkaTransportOptions = { source: 'web', brokers: ['kafka:9092'], registry: { url: 'http://r' } }
    export const analytics: Analytics = new Analytics({ transport: kafkaTransport(options), size: 500, onFull: 'wait' })
    // @ts-expect-error a source is required
    kafkaTransport({ brokers: ['kafka:9092'], registry: { url: 'http://r' } })
    // @ts-expect-error an endpoint belongs to the HTTP transport
    new Analytics({ transport: kafkaTransport(options), endpoint: '' })
  `
  const imports = `import { Analytics } from '@hookline/client'\nimport { type KafkaTransportOptions, kafkaTransport } from '@hookline/client-kafka'\n`
  it.each(['uses.mts', 'uses.cts'])('%s', async file => {
    await consumer.write(file, imports + uses)
    const flags = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022', '--types', '']
    const { stdout, code } = await consumer.typescript(...flags, '--module', 'nodenext', file)
    expect({ stdout, code }).toEqual({ stdout: '', code: 0 })
  })
})

describe('docs/how-to/send-from-node.md', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/how-to/send-from-node.md'), 'utf8')
  const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)].flatMap(([, text = '']) =>
    text.includes('@hookline/client-kafka') ? [text] : [],
  )

  it('its Kafka example works', async () => {
    const place = await preparedPlace()
    expect(examples).toHaveLength(1)
    const { brokers, registry, topicPrefix } = place.options
    const text = (examples[0] as string)
      .replace(/brokers: \[.*?\]/, () => `brokers: ${JSON.stringify(brokers)}, topicPrefix: '${topicPrefix}'`)
      .replace(/url: '.*?'/, () => `url: '${registry.url}'`)
    await consumer.write('example.mjs', text)
    expect(await consumer.node('example.mjs')).toMatchObject({ code: 0, stderr: '' })
    expect((await place.events()).length).toBe(10_000)
  })
})
