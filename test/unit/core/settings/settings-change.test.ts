import { describe, expect, it } from '@jest/globals'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { changeBetween, withLiveSettings } from '../../../../src/core/settings/settings-change.ts'
import { draftFrom, settingsFrom } from '../../../../src/core/settings/validate.ts'

const input = {
  kafka: { brokers: ['a:9092'] },
  registry: { url: 'http://registry:8081', username: 'user', password: 'old' },
  sources: [{ id: 'web', writeKey: 'old' }],
  destinations: [{ id: 'crm', sources: ['web'], sharedSecret: 'old', webhooks: [{ url: 'https://a.example' }] }],
}

function settings(changes: object = {}): Settings {
  const result = settingsFrom(draftFrom({ ...input, ...changes }), new Map())
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems))
  return result.settings
}

const operatorOf = (...key: readonly string[]) => ({ operator: { keys: [{ name: 'ada', role: 'operate', key }] } })
const [destination] = input.destinations

describe('changeBetween', () => {
  it.each<[string, object, string[], string[]]>([
    ['nothing', {}, [], []],
    ['an explicit default', { topics: { partitions: 12 } }, [], []],
    ['the value of a write key', { sources: [{ id: 'web', writeKey: 'new' }] }, ['sources'], []],
    ['a second secret', { destinations: [{ ...destination, sharedSecret: ['old', 'new'] }] }, ['destinations'], []],
    [
      'a header',
      { destinations: [{ ...destination, webhooks: [{ url: 'https://a.example', headers: { a: '' } }] }] },
      ['destinations'],
      [],
    ],
    [
      'log, network, payload and audiences',
      {
        log: { level: 'debug' },
        network: { ports: [443] },
        payload: { userAgent: 'A' },
        audiences: { emitPerSecond: 1 },
      },
      ['log', 'network', 'payload', 'audiences'],
      [],
    ],
    ['a canary', { canary: { destination: 'crm' } }, ['canary'], []],
    ['notices', { notices: { destination: 'crm' } }, ['notices'], []],
    ['kafka', { kafka: { brokers: ['a:9092', 'b:9092'] } }, [], ['kafka']],
    ['the value of a password', { registry: { ...input.registry, password: 'new' } }, [], ['registry']],
    [
      'sizes, servers and delivery',
      {
        topics: { partitions: 3 },
        collector: { operatorKey: 'k' },
        ops: { listen: '[::]:1' },
        delivery: { ordering: 'none' },
      },
      [],
      ['topics', 'collector', 'ops', 'delivery'],
    ],
    ['the first key of the operator API, which then listens', operatorOf('old'), ['operator'], ['operator.listen']],
    ['live and others', { payload: { messageIdHeader: false }, delivery: { schedule: [] } }, ['payload'], ['delivery']],
  ])('%s', (_, changes, live, needRestart) => {
    expect(changeBetween(settings(), settings(changes))).toEqual({ live, needRestart })
    expect(changeBetween(settings(changes), settings())).toEqual({ live, needRestart })
  })
})

it('names the key of the file from which a setting is computed', () => {
  const change = changeBetween(settings(), { ...settings(), configTopic: true })
  expect(change).toEqual({ live: [], needRestart: ['operator.encryptionKeyFile'] })
})

it('needs no restart of a process without the operator service for the first operator key', () => {
  const change = changeBetween(settings(), settings(operatorOf('old')), new Set(['dispatcher']))
  expect(change).toEqual({ live: ['operator'], needRestart: [] })
})

it('applies a second operator key without a restart', () => {
  const change = changeBetween(settings(operatorOf('old')), settings(operatorOf('new', 'old')))
  expect(change).toEqual({ live: ['operator'], needRestart: [] })
})

it('withLiveSettings applies live settings and keeps the others', () => {
  const [before, after] = [settings(), settings({ payload: { userAgent: 'A' }, delivery: { ordering: 'none' } })]
  expect(withLiveSettings(before, after)).toEqual({ ...before, payload: after.payload })
})
