import { describe, expect, it } from '@jest/globals'
import {
  asEnvironment,
  metaProperties,
  newId,
  serverProperties,
} from '../../../../deploy/tools/local/server-properties.ts'

const parsed = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .trimEnd()
      .split('\n')
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

describe('serverProperties', () => {
  const properties = parsed(serverProperties({ logDir: '/data/log', port: 19_092, controllerPort: 20_000 }))

  it('listens on the loopback interface only', () => {
    expect(properties).toMatchObject({
      listeners: 'PLAINTEXT://127.0.0.1:19092,CONTROLLER://127.0.0.1:20000',
      'advertised.listeners': 'PLAINTEXT://127.0.0.1:19092',
      'controller.quorum.voters': '1@127.0.0.1:20000',
      'log.dirs': '/data/log',
    })
  })

  it('sets the replicas of internal topics to what one broker can store', () => {
    const factors = Object.entries(properties).filter(([key]) => /replication\.factor$|min\.isr$|insync/.test(key))
    expect(factors).toHaveLength(7)
    expect(factors.filter(([, value]) => value !== '1')).toEqual([])
  })

  it('never creates a topic automatically', () => {
    expect(properties['auto.create.topics.enable']).toBe('false')
  })

  it('lets the options of the caller win, with each key once', () => {
    const text = serverProperties({
      logDir: '/d',
      port: 1,
      controllerPort: 2,
      properties: { 'num.io.threads': '9', 'x.y': 'z' },
    })
    expect(text.match(/^num\.io\.threads=.*$/gm)).toEqual(['num.io.threads=9'])
    expect(parsed(text)['x.y']).toBe('z')
  })

  it('escapes a backslash', () => {
    expect(parsed(serverProperties({ logDir: 'C:\\kafka', port: 1, controllerPort: 2 }))['log.dirs']).toBe(
      'C:\\\\kafka',
    )
  })
})

it('asEnvironment names properties like the Kafka images', () => {
  expect(asEnvironment({ 'group.min.session.timeout.ms': '500' })).toEqual({
    KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: '500',
  })
})

it('metaProperties make the directory a node of the cluster, with its own id', () => {
  const [one, other] = [parsed(metaProperties('cluster')), parsed(metaProperties('cluster'))]
  expect(one).toEqual({
    version: '1',
    'node.id': '1',
    'cluster.id': 'cluster',
    'directory.id': expect.stringMatching(/^[\w-]{22}$/),
  })
  expect(other['directory.id']).not.toBe(one['directory.id'])
})

it('newId never looks like a command line option', () => {
  const ids = Array.from({ length: 2_000 }, newId)
  expect(ids.filter(id => !/^[A-Za-z0-9_][\w-]{21}$/.test(id))).toEqual([])
})
