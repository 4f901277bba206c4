import { describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../../src/adapters/avro/event-codec.ts'
import { produceCommand } from '../../../../../src/app/commands/produce/produce.ts'
import type { Event } from '../../../../../src/core/message/event.ts'
import { callTypes } from '../../../../../src/core/message/message.ts'
import type { LogProducer, OutgoingRecord } from '../../../../../src/core/ports.ts'
import { configFolder } from '../../../../support/config/config-folder.ts'
import { smallConfiguration } from '../../../../support/config/small-configuration.ts'
import { eventsTopic, MemoryRegistry } from '../../../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'
import { runCommand } from '../../../../support/process/in-process-command.ts'

const folder = await configFolder({ 'hookline.yaml': smallConfiguration({ prefix: 'hookline' }) })
const clock = new ManualClock()
const brokersAhead = 3_600_000
const codec = await createEventCodec({ registry: new MemoryRegistry(), eventsTopic, clock })

/** Acknowledges records. The append number `failsAt` and all later ones fail. */
class MemoryProducer implements LogProducer {
  readonly records: [topic: string, record: OutgoingRecord][] = []
  readonly #pending: (() => void)[] = []
  readonly #failsAt: number
  #appended = 0
  stops = 0

  constructor(failsAt = Number.POSITIVE_INFINITY) {
    this.#failsAt = failsAt
  }

  append(topic: string, record: OutgoingRecord, onAck: (error: Error | undefined) => void): void {
    const fails = ++this.#appended >= this.#failsAt
    const answer = (): void => {
      if (!fails) this.records.push([topic, record])
      onAck(
        fails ? Object.assign(new Error('topic hookline.events does not exist'), { code: 'TOPIC_MISSING' }) : undefined,
      )
    }
    this.#pending.push(answer)
    if (this.#pending.length === 1) setImmediate(() => this.#answerAll())
  }

  async flush(): Promise<void> {
    this.#answerAll()
  }

  async stop(): Promise<void> {
    this.stops += 1
  }

  #answerAll(): void {
    for (const answer of this.#pending.splice(0)) answer()
  }

  events(): Event[] {
    return this.records.map(([topic, { value }]) => {
      expect(topic).toBe(eventsTopic)
      const decoded = codec.decode(value as Buffer, clock.now())
      if (decoded.kind !== 'event') throw new Error(decoded.kind)
      return decoded.event
    })
  }
}

async function run(
  argv: readonly string[],
  given: Parameters<typeof runCommand>[1] = {},
  producer = new MemoryProducer(),
) {
  const open = () => ({
    ...{ producer, clock, events: async () => codec, close: () => producer.stop() },
    // The brokers' clock is ahead of the machine's clock.
    brokerTime: async () => {
      await clock.advance(brokersAhead)
      return clock.now()
    },
  })
  const load = async () => (io: Parameters<typeof produceCommand>[0]) => produceCommand(io, open)
  const result = await runCommand(['produce', '--config', `${folder}/hookline.yaml`, ...argv], given, [
    { name: 'produce', summary: '', load },
  ])
  return { ...result, producer }
}

it('asks the brokers for the time before the first message', async () => {
  const brokersNow = clock.now() + brokersAhead
  const { producer } = await run(['--count', '2'])
  expect(producer.events().map(({ receivedAt }) => receivedAt)).toEqual([brokersNow, brokersNow])
})

describe('sample messages', () => {
  it('are 100 canonical messages of the first source, keyed by user', async () => {
    const { code, out, err, producer } = await run([])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^wrote 100 messages to hookline\.events in \d+\.\d s \(\d+ per second\)\n$/)
    const events = producer.events()
    expect(new Set(events.map(({ message }) => message.type))).toEqual(new Set(callTypes))
    for (const { sourceId, canonical, receivedAt } of events)
      expect({ sourceId, canonical, receivedAt }).toEqual({ sourceId: 'web', canonical: true, receivedAt: clock.now() })
    expect(producer.records.map(([, { key }]) => String(key))).toEqual(
      events.map(({ message }) => message.userId ?? message.anonymousId),
    )
    expect(producer.stops).toBe(1)
  })

  it('follow the options', async () => {
    const argv = [
      ...['--count', '7', '--type', 'page, group', '--source', 'server', '--seed', '3', '--users', '1', '--json'],
    ]
    const { code, out, producer } = await run(argv)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ topic: eventsTopic, source: 'server', produced: 7, failed: 0, rejected: 0 })
    const events = producer.events()
    expect(events.map(({ message }) => message.messageId)).toEqual(
      Array.from({ length: 7 }, (_, i) => `sample-3-${i + 1}`),
    )
    expect(
      events.every(({ sourceId, message }) => sourceId === 'server' && ['page', 'group'].includes(message.type)),
    ).toBe(true)
  })

  it('can exceed the limit of records that wait for Kafka', async () => {
    const { code, producer } = await run(['--count', '12000'])
    expect(code).toBe(0)
    expect(producer.records.length).toBe(12_000)
  })

  it.each([
    [[], 'interrupted after 0 messages', 1],
    [['--rate', '10'], '', 0],
  ])('stop at a signal: %j', async (argv, message, code) => {
    const result = await run(argv, { signal: AbortSignal.abort() })
    expect(result.code).toBe(code)
    expect(result.out).toMatch(/^wrote 0 messages/)
    expect(result.err).toBe(message && `hookline: ${message}\n`)
    expect(result.producer.stops).toBe(1)
  })

  it('stop at the first record that Kafka rejects, with a remedy', async () => {
    const { code, out, err, producer } = await run(['--count', '20000'], {}, new MemoryProducer(3))
    expect(code).toBe(1)
    expect(out).toMatch(/^wrote 2 messages/)
    expect(err).toBe(
      'hookline: Kafka did not acknowledge 4998 messages: topic hookline.events does not exist; create it with: hookline topics apply\n',
    )
    expect(producer.stops).toBe(1)
  })
})

describe('messages from stdin', () => {
  it('are written unchanged; blank lines are skipped', async () => {
    const stdin =
      '{"type":"track","userId":12345678901234567890,"event":"Ä","messageId":"m-1"}\n\r\n{"type":"page","anonymousId":"a"}'
    const { code, err, producer } = await run(['--stdin'], { stdin })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(
      producer
        .events()
        .map(({ message: { type, messageId, userId, anonymousId } }) => ({ type, messageId, userId, anonymousId })),
    ).toEqual([
      { type: 'track', messageId: 'm-1', userId: '12345678901234567890', anonymousId: undefined },
      { type: 'page', messageId: expect.stringMatching(/^id-/), userId: undefined, anonymousId: 'a' },
    ])
  })

  it('may have the maximum size, to which the quotes of a numeric id do not count', async () => {
    const start = '{"type":"page","userId":7,"name":"'
    const stdin = `${start}${'x'.repeat(32_768 - start.length - 2)}"}`
    expect(await run(['--stdin'], { stdin })).toMatchObject({ code: 0, err: '' })
  })

  it('that are invalid are reported with their line number; the others are written', async () => {
    const stdin = '{"type":"track","userId":"u"}\n{"type":"identify","userId":"u"}\nnonsense\n[]\n'
    const { code, out, err, producer } = await run(['--stdin', '--json'], { stdin })
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ produced: 1, rejected: 3 })
    expect(err.split('\n')).toEqual([
      "stdin:1: missing_event: You must pass 'event'.",
      expect.stringMatching(/^stdin:3: invalid_json: /),
      expect.stringMatching(/^stdin:4: not_an_object: /),
      'hookline: skipped 3 invalid lines of stdin; see the reasons above',
      '',
    ])
    expect(producer.records.length).toBe(1)
  })
})

describe('usage', () => {
  it.each([
    [['--type', 'track,buy'], "--type: unknown value 'buy' (possible: identify, track, page, screen, group, alias)"],
    [['--source', 'shop'], "--source: unknown value 'shop' (possible: web, server)"],
    [['--count', '-1'], "--count must be an integer >= 1, not '-1'"],
    [['--stdin', '--count', '3'], "option '--stdin' cannot be used with option '-n, --count <number>'"],
  ])('%j', async (argv, message) => {
    const { code, err, producer } = await run(argv)
    expect({ code, err }).toEqual({ code: 2, err: `hookline: ${message}\n` })
    expect(producer.records).toEqual([])
  })
})
