import { describe, expect, it } from '@jest/globals'
import type { ISocketFactory, LogEntry } from 'kafkajs'
import { connectionOf, kafkajsLogCreator } from '../../../../../src/adapters/kafka/kafkajs/client.ts'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { Secret } from '../../../../../src/core/secret.ts'

const plain = { brokers: ['a:1', 'b:2'], clientId: 'hookline', tls: undefined, sasl: undefined }

describe('the connection settings', () => {
  it.each([
    { name: 'plain', settings: plain, expected: {} },
    {
      name: 'TLS with the public roots',
      settings: { ...plain, tls: { ca: undefined, cert: undefined, key: undefined } },
      expected: { ssl: {} },
    },
    {
      name: 'TLS with own root and certificate',
      settings: { ...plain, tls: { ca: 'root', cert: 'cert', key: new Secret('key') } },
      expected: { ssl: { ca: ['root'], cert: 'cert', key: 'key' } },
    },
    {
      name: 'SASL',
      settings: {
        ...plain,
        sasl: { mechanism: 'scram-sha-512' as const, username: new Secret('me'), password: new Secret('pass') },
      },
      expected: { sasl: { mechanism: 'scram-sha-512', username: 'me', password: 'pass' } },
    },
  ])('$name', ({ settings, expected }) => {
    expect(connectionOf(settings)).toEqual({ brokers: ['a:1', 'b:2'], clientId: 'hookline', ...expected })
  })
})

it('tries the bootstrap brokers in turn, which may have IPv6 addresses', async () => {
  const { Kafka, logLevel } = loadKafkajs()
  const dialled: [string, number][] = []
  const socketFactory: ISocketFactory = ({ host, port }) => {
    dialled.push([host, port])
    throw new Error('no network')
  }
  const brokers = ['kafka-1:9092', '[fd00::5]:9093', '127.0.0.1:9094']
  const options = { brokers, socketFactory, logLevel: logLevel.NOTHING, retry: { retries: 0 } }
  const admin = new Kafka(options).admin()
  for (const _ of brokers) await expect(admin.connect()).rejects.toThrow('no network')
  expect(dialled).toEqual([
    ['kafka-1', 9092],
    ['fd00::5', 9093],
    ['127.0.0.1', 9094],
  ])
})

describe('log lines of kafkajs', () => {
  function setUp() {
    const lines: string[] = []
    const log = (level: string) => (fields: object, line: string) =>
      lines.push(`${level} ${line} ${JSON.stringify(fields)}`)
    const logger = {
      isLevelEnabled: () => true,
      debug: log('debug'),
      info: log('info'),
      warn: log('warn'),
      error: log('error'),
    }
    let now = 0
    const entry = (level: number, message: string, extra: object = {}): LogEntry => ({
      namespace: 'Connection',
      level,
      label: '',
      log: { timestamp: '2026-01-01', logger: 'kafkajs', message, ...extra },
    })
    const write = kafkajsLogCreator(logger, () => now)(4)
    return {
      lines,
      write: (level: number, message: string, extra?: object) => write(entry(level, message, extra)),
      wait: (ms: number) => {
        now += ms
      },
    }
  }

  it.each([
    { level: 1, expected: 'warn' },
    { level: 2, expected: 'debug' },
    { level: 4, expected: 'debug' },
    { level: 5, expected: 'debug' },
  ])(
    'of level $level get level $expected, because kafkajs retries, or throws the errors that it does not retry',
    ({ level, expected }) => {
      const { lines, write } = setUp()
      write(level, 'something')
      expect(lines).toEqual([`${expected} kafkajs: something {"part":"Connection"}`])
    },
  )

  it('of error responses are not warnings, because kafkajs also throws those errors', () => {
    const { lines, write } = setUp()
    write(1, 'Response GroupCoordinator(key: 10, version: 2)', { error: 'The group coordinator is not available' })
    expect(lines[0]).toMatch(/^debug /)
  })

  it('repeat a warning at most every 10 s', () => {
    const { lines, write, wait } = setUp()
    write(1, 'refused')
    write(1, 'refused')
    write(1, 'something else')
    wait(10_000)
    write(1, 'refused')
    expect(lines.map(line => line.split(' ')[0])).toEqual(['warn', 'debug', 'warn', 'warn'])
  })

  it('have no nested fields, which may contain a whole request', () => {
    const { lines, write } = setUp()
    write(1, 'x', { broker: 'a:1', retryCount: 2, data: { password: 'pass' }, stack: 'at x' })
    expect(lines).toEqual(['warn kafkajs: x {"part":"Connection","broker":"a:1","retryCount":2}'])
  })
})
