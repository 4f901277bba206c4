import { describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import { RegistryUnavailable } from '../../../../src/adapters/avro/schema-registry.ts'
import { KafkaError } from '../../../../src/adapters/kafka/kafkajs/errors.ts'
import { type DeadLetterSource, deadLettersCommand } from '../../../../src/app/commands/dead-letters.ts'
import type { CommandIo } from '../../../../src/app/create-command.ts'
import { deadLetterRecord } from '../../../../src/core/delivery/dead-letter-record.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { messageIdOf } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import type { EventCodec, LogRecord, TopicReader } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { carriedOf, eventOf, messageOf, recordOf } from '../../../support/builders.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { eventsTopic, MemoryRegistry } from '../../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { runCommand } from '../../../support/process/in-process-command.ts'

const folder = await configFolder({
  'hookline.yaml': `
kafka: { brokers: ["127.0.0.1:1"] }
registry: { url: "http://127.0.0.1:1" }
sources: [{ id: web, writeKey: secret-key }]
`,
})
const codec = await createEventCodec({ registry: new MemoryRegistry(), eventsTopic, clock: new ManualClock() })

const at = (time: string) => epochMs(Date.parse(`2026-11-21T${time}Z`))
const identify: Event = eventOf({
  message: messageOf({ type: 'identify', event: undefined, traits: '{"plan":"pro"}' as JsonText }),
})
const recordAt = (offset: number, time: string, outgoing: ReturnType<typeof deadLetterRecord>): LogRecord =>
  recordOf({ ...outgoing, topic: 'hookline.dead-letter', partition: 0, offset, timestamp: at(time) })
const delivered = recordOf({ value: codec.encode(identify) })
const carried = carriedOf({ attempt: 10, deferrals: 2, outcomes: 'http_5xx,http_4xx', refusedWebhooks: ['0a1b2c3d'] })

const exhausted = recordAt(0, '10:00:00', deadLetterRecord(delivered, carried, 'retries_exhausted'))
const damaged = recordAt(
  1,
  '09:00:00',
  deadLetterRecord(recordOf({ offset: 50, value: Buffer.from('{}') }), undefined, 'undecodable'),
)
const foreign = recordAt(2, '11:00:00', {
  key: Buffer.from('\u{1b}[2J'),
  value: Buffer.from('x'),
  headers: { reason: 'no\nsense' },
})
const records = [exhausted, damaged]

function run(
  argv: readonly string[],
  given: { records?: readonly LogRecord[]; env?: Record<string, string> } & Partial<DeadLetterSource> = {},
) {
  const reader: TopicReader = {
    async readToEnd(topic, onRecord) {
      expect(topic).toBe('hookline.dead-letter')
      for (const record of given.records ?? records) await onRecord(record)
      return 0
    },
  }
  const source: DeadLetterSource = { reader, codec: async () => codec, ...given }
  const entry = {
    name: 'dead-letters',
    summary: '',
    load: async () => (io: CommandIo) => deadLettersCommand(io, () => source),
  }
  return runCommand(['dead-letters', '--config', `${folder}/hookline.yaml`, ...argv], { env: given.env ?? {} }, [entry])
}

describe('as a table', () => {
  it('lists all, oldest first, with counts on stderr', async () => {
    expect(await run([])).toEqual({
      code: 0,
      err: '2 dead letters: retries_exhausted 1, undecodable 1\n',
      out: [
        'TIME                      DESTINATION  REASON             OUTCOMES           MESSAGE    TYPE      ATTEMPTS  ORIGIN                KEY',
        '2026-11-21T09:00:00.000Z  -            undecodable        -                  -          -         -         hookline.events/3/50  -/hookline.events/3/50/1795248000000/0',
        '2026-11-21T10:00:00.000Z  crm          retries_exhausted  http_5xx,http_4xx  message-1  identify  10        hookline.events/3/41  crm/hookline.events/3/41/1795248000000/0',
        '',
      ].join('\n'),
    })
  })

  it('replaces control characters of records from other producers', async () => {
    const { out, err } = await run([], { records: [foreign] })
    expect(out.split('\n')[1]).toMatch(/^2026-11-21T11:00:00.000Z {2}- +no\u{fffd}sense +- .* \u{fffd}\[2J$/u)
    expect(err).toBe('1 dead letter: no\u{fffd}sense 1\n')
  })

  it.each<[string, string[], readonly LogRecord[], string]>([
    ['no dead letters', [], [], 'no dead letters\n'],
    ['nothing selected', ['--destination', 'shop'], records, '2 dead letters, 0 selected\n'],
  ])('%s', async (_name, argv, given, err) => {
    expect(await run(argv, { records: given })).toEqual({ code: 0, out: '', err })
  })
})

describe('--config', () => {
  it('takes precedence over HOOKLINE_OPERATOR_URL', async () => {
    const { code, err } = await run([], { env: { HOOKLINE_OPERATOR_URL: 'http://127.0.0.1:1' } })
    expect({ code, err }).toEqual({ code: 0, err: '2 dead letters: retries_exhausted 1, undecodable 1\n' })
  })

  it('is refused with --operator-url', async () => {
    expect(await run(['--operator-url', 'http://127.0.0.1:1'])).toEqual({
      ...{ code: 2, out: '' },
      err: 'hookline: use only one of --config and --operator-url\n',
    })
  })
})

describe('filters', () => {
  it.each<[string[], string[], string]>([
    [['--destination', 'crm'], ['crm'], '2 dead letters, 1 selected: retries_exhausted 1'],
    [['--destination', '-'], ['-'], '2 dead letters, 1 selected: undecodable 1'],
    [['--reason', 'undecodable'], ['-'], '2 dead letters, 1 selected: undecodable 1'],
    [['--outcome', 'http_4xx'], ['crm'], '2 dead letters, 1 selected: retries_exhausted 1'],
    [['--message-id', 'message-1'], ['crm'], '2 dead letters, 1 selected: retries_exhausted 1'],
    [['--since', '2026-11-21T09:30:00Z'], ['crm'], '2 dead letters, 1 selected: retries_exhausted 1'],
    [['--until', '2026-11-21T10:00:00Z'], ['-'], '2 dead letters, 1 selected: undecodable 1'],
    [
      ['--since', '2026-11-21', '--until', '2026-11-22'],
      ['-', 'crm'],
      '2 dead letters: retries_exhausted 1, undecodable 1',
    ],
    [['--limit', '1'], ['crm'], '2 dead letters: retries_exhausted 1, undecodable 1; only the newest 1 shown'],
  ])('%j', async (argv, destinations, counts) => {
    const { code, out, err } = await run(argv)
    expect({ code, err }).toEqual({ code: 0, err: `${counts}\n` })
    expect(
      out
        .split('\n')
        .slice(1, -1)
        .map(line => line.split(/ +/)[1]),
    ).toEqual(destinations)
  })

  it('find a message by the id of its sender, which Kafka has as a hash', async () => {
    const messageId = messageIdOf('Bestellung 7', () => '')
    const stored = recordAt(3, '10:00:00', deadLetterRecord(delivered, { ...carried, messageId }, 'retries_exhausted'))
    const { out } = await run(['--message-id', 'Bestellung 7', '--json'], { records: [...records, stored] })
    expect(JSON.parse(out)).toMatchObject({ messageId })
  })

  it('accept durations before now as times', async () => {
    const recent = { ...exhausted, timestamp: epochMs(Date.now() - 30 * 60_000) }
    const selected = async (since: string) => (await run(['--since', since], { records: [recent] })).out !== ''
    expect([await selected('1h'), await selected('29m')]).toEqual([true, false])
  })

  it.each<[string[], string]>([
    [['--reason', 'http4xx'], "--reason: unknown value 'http4xx' (did you mean http_4xx?)"],
    [['--reason', 'banana'], "--reason: unknown value 'banana' (possible: http_3xx, http_4xx, tls_untrusted,"],
    [['--outcome', 'timeuot'], "--outcome: unknown value 'timeuot' (did you mean timeout?)"],
    [
      ['--since', 'yesterday'],
      "--since must be a time in ISO 8601 (such as 2026-03-01T10:00:00Z) or a duration before now (such as 2h), not 'yesterday'",
    ],
    [
      ['--until', '2026-02-30'],
      "--until must be a time in ISO 8601 (such as 2026-03-01T10:00:00Z) or a duration before now (such as 2h), not '2026-02-30'",
    ],
    [['--since', '2026-11-22', '--until', '2026-11-21'], '--since must be before --until'],
    [['--limit', '0'], "--limit must be an integer >= 1, not '0'"],
  ])('rejects %j', async (argv, line) => {
    const { code, out, err } = await run(argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(`hookline: ${line}`)
  })
})

describe('--json', () => {
  it('prints one line per dead letter with all fields and no secret', async () => {
    const { out, err } = await run(['--json'])
    expect(err).toBe('2 dead letters: retries_exhausted 1, undecodable 1\n')
    const lines = out.trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line))).toEqual([
      expect.objectContaining({ destination: null, messageId: null, attempts: null, startedAt: null, event: null }),
      {
        firstOffset: null,
        originalLength: null,
        key: 'crm/hookline.events/3/41/1795248000000/0',
        at: '2026-11-21T10:00:00.000Z',
        destination: 'crm',
        reason: 'retries_exhausted',
        outcomes: ['http_5xx', 'http_4xx'],
        messageId: 'message-1',
        attempts: 10,
        deferrals: 2,
        startedAt: '2026-11-21T08:00:00.000Z',
        deadline: '2026-11-21T12:00:00.000Z',
        refusedWebhooks: ['0a1b2c3d'],
        origin: { topic: 'hookline.events', partition: 3, offset: 41, timestamp: '2026-11-21T08:00:00.000Z' },
        round: 0,
        event: {
          sourceId: 'web',
          receivedAt: '2026-11-21T08:00:00.000Z',
          canonical: true,
          message: {
            type: 'identify',
            messageId: 'message-1',
            userId: 'u1',
            timestamp: '2026-11-21T08:00:00.000Z',
            traits: { plan: 'pro' },
          },
        },
      },
    ])
    expect(out).not.toContain('secret-key')
  })

  it('prints invalid JSON of other producers as text', async () => {
    const strange = eventOf({ canonical: false, message: messageOf({ properties: '{' as JsonText }) })
    const value = codec.encode(strange)
    const { out } = await run(['--json'], { records: [{ ...exhausted, value }] })
    expect(JSON.parse(out)).toMatchObject({ event: { canonical: false, message: { properties: '{' } } })
  })
})

describe('a missing dependency', () => {
  const away = new RegistryUnavailable('the schema registry cannot be used: connect ECONNREFUSED')
  const unable =
    'hookline: some or all dead letters are listed without their event, because Hookline could not decode events: the schema registry cannot be used: connect ECONNREFUSED\n'
  const failingLater: EventCodec = {
    ...codec,
    decode: () => ({ kind: 'schema_needed', schemaId: 9 }),
    learn: () => Promise.reject(away),
  }

  it.each<[string, () => Promise<EventCodec>]>([
    ['at the start', () => Promise.reject(away)],
    ['during the run', async () => failingLater],
  ])('reports an unavailable registry %s once and shows no types', async (_name, open) => {
    const { code, out, err } = await run([], { codec: open })
    expect({ code, err }).toEqual({ code: 0, err: `${unable}2 dead letters: retries_exhausted 1, undecodable 1\n` })
    expect(out).toMatch(/ message-1 {2}- /)
  })

  it.each<[string, Error, string]>([
    [
      'the topic',
      new KafkaError('topic x does not exist', { code: 'TOPIC_MISSING', retriable: false }),
      'hookline: topic x does not exist; create it with: hookline topics apply\n',
    ],
    [
      'the broker',
      new KafkaError('cannot be read', { code: 'ECONNREFUSED', retriable: true }),
      'hookline: cannot be read\n',
    ],
  ])('%s', async (_name, error, err) => {
    const reader = { readToEnd: () => Promise.reject(error) }
    expect(await run([], { reader })).toEqual({ code: 1, out: '', err })
  })
})
