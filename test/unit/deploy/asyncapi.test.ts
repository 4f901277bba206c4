import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import avsc from 'avsc'
import { syncId } from '../../../src/core/audience/sync-id.ts'
import { rejectedRecord } from '../../../src/core/collector/rejected-record.ts'
import { encodeRecord } from '../../../src/core/config-objects/object-record.ts'
import {
  deletionKey,
  deletionOutcomeKey,
  encodeDeletion,
  encodeDeletionOutcome,
} from '../../../src/core/deletion/deletion-record-and-status.ts'
import { encodeSuppressions, SuppressionIndex } from '../../../src/core/deletion/suppressions.ts'
import { encodeAttempt } from '../../../src/core/delivery/attempt-facts-and-record.ts'
import { deadLetterRecord, truncatedDeadLetter } from '../../../src/core/delivery/dead-letter-record.ts'
import { retryRecord } from '../../../src/core/delivery/delivery-state.ts'
import { withDoneFor } from '../../../src/core/delivery/done-destinations-header.ts'
import { deadLetterReasons } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { parseDeadLetter } from '../../../src/core/delivery/parse-dead-letter.ts'
import { replayTargetOf } from '../../../src/core/delivery/replay-decision.ts'
import { createRouting } from '../../../src/core/delivery/route.ts'
import { encodeActivity, encodeKey, encodeProcess, encodeResults } from '../../../src/core/live-status/status-record.ts'
import type { OutgoingRecord } from '../../../src/core/ports.ts'
import { delivery } from '../../../src/core/settings/schema-of-configuration.ts'
import { tiersOf, topicConfig, topicNames, topicSpecs } from '../../../src/core/topics.ts'
import { SuppressionWrites } from '../../../src/services/deletion/suppression-writes.ts'
import { toEveryPartition } from '../../../src/services/operator/write-sync-members-and-end.ts'
import { carriedOf, duration, recordOf, start } from '../../support/builders.ts'
import { destinationDocument, named, objectRecord, sealedValue } from '../../support/config-objects/example-objects.ts'
import { ajv, at, document, type Json, messageOf, read } from '../../support/docs/asyncapi.ts'
import { ScriptedProducer } from '../../support/kafka/scripted-producer.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { traceparent } from '../../support/telemetry/traceparent.ts'

/*
 * Checks schemas/asyncapi.yaml against the AsyncAPI specification and against records that the code
 * writes.
 */

function referencesIn(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, value]) => (name === '$ref' ? [String(value)] : referencesIn(value)))
}

const channels = Object.entries(document['channels'] as Json)

describe('schemas/asyncapi.yaml', () => {
  it('is valid AsyncAPI 3.0, Kafka bindings included', () => {
    const require = createRequire(import.meta.url)
    const validate = ajv.compile(require('@asyncapi/specs/schemas/3.0.0-without-$id.json'))
    expect([validate(document), validate.errors]).toEqual([true, null])
    // The validator must also reject invalid documents.
    expect(validate({ ...document, asyncapi: '2.6.0' })).toBe(false)
    expect(validate({ ...document, channels: { events: { bindings: { kafka: { partitions: 'many' } } } } })).toBe(false)
  })

  it('resolves every reference', () => {
    const references = [...new Set(referencesIn(document))]
    expect(references.length).toBeGreaterThan(20)
    const inside = references.filter(each => each.startsWith('#'))
    expect(inside.filter(each => at(each) === undefined)).toEqual([])
    for (const file of references.filter(each => !each.startsWith('#')))
      expect(() => avsc.Type.forSchema(JSON.parse(read(join('schemas', file))))).not.toThrow()
  })

  it('puts every message on a topic, and names the messages of an operation by its channel', () => {
    const shown = channels.flatMap(([, channel]) => referencesIn(channel['messages']))
    const all = Object.keys(at('#/components/messages') ?? {}).map(name => `#/components/messages/${name}`)
    expect([...new Set(shown)].sort()).toEqual(all.sort())
    for (const operation of Object.values(document['operations'] as Json)) {
      const channel = operation['channel']?.['$ref']
      for (const message of referencesIn(operation['messages'])) expect(message).toMatch(`${channel}/messages/`)
    }
  })
})

describe('topics of schemas/asyncapi.yaml', () => {
  const { schedule } = delivery.parse({})
  const specs = topicSpecs({ prefix: 'hookline', partitions: 12, replicationFactor: 3 }, schedule, {
    attemptsTopic: 'all',
    configTopic: true,
    jobsTopic: true,
  })
  const addressOf = (name: string): string => (topicNames('hookline').tierOf(name) ? 'hookline.retry.{tier}' : name)

  it('equal the topics of an installation', () => {
    const shown = channels.map(([, channel]) => String(channel['address']))
    expect(shown.sort()).toEqual([...new Set(specs.map(({ name }) => addressOf(name)))].sort())
    expect(at('#/channels/retry/parameters/tier/enum')).toEqual(
      tiersOf(schedule).map(tier => topicNames('').retry(tier).replace('.retry.', '')),
    )
  })

  it.each(specs.map(spec => ({ name: spec.name, spec })))('describes the set-up of $name', ({ name, spec }) => {
    const [, channel] = channels.find(([, each]) => String(each['address']) === addressOf(name))!
    const { partitions, replicas, topicConfiguration } = (channel['bindings'] as Json)['kafka'] as Json
    const text = ([key, value]: [string, unknown]) => [key, Array.isArray(value) ? value.join(',') : String(value)]
    expect([partitions, replicas]).toEqual([spec.partitions, spec.replicationFactor])
    expect(Object.fromEntries(Object.entries(topicConfiguration as Json).map(text))).toEqual(topicConfig(spec))
  })

  it('name a registry subject for each Avro schema', () => {
    const subjects = Object.values(at('#/components/messages') as Json).flatMap(
      message => message['bindings']?.['kafka']?.['x-registry-subject'] ?? [],
    )
    expect([...new Set(subjects)].sort()).toEqual([
      'hookline.audience-input-value',
      'hookline.audience-memberships-value',
      'hookline.events-value',
    ])
  })
})

/** Every written header must be documented, and every documented header must be written. */
function expectHeaders(name: string, records: readonly OutgoingRecord[]): void {
  const headers = messageOf(name)['headers'] as Json
  const validate = ajv.compile(headers)
  for (const record of records) expect([validate(record.headers), validate.errors]).toEqual([true, null])
  const written = new Set(records.flatMap(record => Object.keys(record.headers)))
  expect([...written].sort()).toEqual(Object.keys(headers['properties'] ?? {}).sort())
}

describe('headers in schemas/asyncapi.yaml', () => {
  const carried = carriedOf({
    attempt: 2,
    outcomes: 'http_4xx,http_5xx',
    refusedWebhooks: ['0badcafe'],
    reason: 'http_5xx',
    firstTrace: traceparent('a'),
    pausedFor: duration('1h'),
  })
  const paused = { ...carried, reason: 'paused', pausedAt: start }
  const event = recordOf({ key: Buffer.from('u-17') })
  const unreadBatch = { firstOffset: 38, length: 5_242_880, bytes: Buffer.of(1), why: 'too large' }
  const traced = { ...event, headers: { traceparent: traceparent('a'), tracestate: 'vendor=1' } }

  it('describe a retry record', () =>
    expectHeaders(
      'retry',
      [carriedOf(), carried, paused].map(each => retryRecord(event, each)),
    ))

  it('describe a dead letter', () =>
    expectHeaders('deadLetter', [
      ...deadLetterReasons.map(reason => deadLetterRecord(event, carried, reason)),
      deadLetterRecord(event, paused, 'record_too_large'),
      deadLetterRecord({ ...event, key: null, value: null }, undefined, 'undecodable'),
      deadLetterRecord(event, undefined, 'invalid_message', 'missing_event'),
      truncatedDeadLetter({ ...event, unreadBatch }, undefined, 'undecodable'),
    ]))

  it('describe a suppression', () => {
    const producer = new ScriptedProducer()
    const parts = { clock: new ManualClock(), index: new SuppressionIndex() }
    const writes = new SuppressionWrites({ producer, topic: 't', ...parts })
    const mark = { source: undefined, deletedAt: start, isSuppressed: true }
    void writes.update('u-17', () => [mark])
    expectHeaders('suppression', producer.records('t'))
  })

  it('describe an audience input', async () => {
    const producer = new ScriptedProducer()
    const traced = { traceparent: traceparent('a'), tracestate: 'vendor=1' }
    const ended = { kind: 'sync_ended', audience: 'Shoppers', syncId: syncId(1), mode: 'full' } as const
    const written = [traced, undefined].map(headers =>
      toEveryPartition(
        { producer, topic: 't', partitions: async () => 1, encodeInput: () => Buffer.of(), headers },
        ended,
      ),
    )
    await new Promise(resolve => setImmediate(resolve))
    producer.answer()
    await Promise.all(written)
    expectHeaders('audienceInput', producer.records('t'))
  })

  it('describe a configuration object', () => {
    const created = objectRecord({ keyOffsets: [17, null], createdAt: start })
    const deleted = objectRecord({ action: 'deleted', version: 2, copy: 1, offset: 18 })
    expectHeaders('configObject', [created, deleted].map(encodeRecord))
  })

  it('describe a replayed event', () => {
    const topics = topicNames('hookline')
    const dead = recordOf({
      ...deadLetterRecord(withDoneFor(traced, ['crm', 'shop']), undefined, 'unknown_source'),
      topic: topics.deadLetter,
      partition: 0,
    })
    const routing = createRouting({ sources: [], destinations: [] })
    const policy = { window: duration('4h'), tiers: [duration('10s')] }
    const target = replayTargetOf(dead, parseDeadLetter(dead), { topics, routing, policy }, start)
    expect(target.kind).toBe('event')
    if (target.kind === 'event') expectHeaders('event', [target.copy])
  })
})

function expectValue(name: string, key: string | null, values: readonly string[]): void {
  const message = messageOf(name)
  const validate = ajv.compile(message['payload'] as Json)
  for (const value of values) expect([value, validate(JSON.parse(value)), validate.errors]).toEqual([value, true, null])
  const written = new Set(values.flatMap(value => Object.keys(JSON.parse(value))))
  expect([...written].sort()).toEqual(Object.keys(message['payload']?.['properties'] ?? {}).sort())
  const keySchema = message['bindings']?.['kafka']?.['key'] as Json
  expect(ajv.validate(keySchema, key)).toBe(true)
  const example = (keySchema['examples'] as unknown as readonly string[])[0]!
  // A key that is a JSON list must have as many elements as the example.
  if (key?.startsWith('[')) expect(JSON.parse(key)).toHaveLength(JSON.parse(example).length)
}

describe('JSON values in schemas/asyncapi.yaml', () => {
  const id = '01a1fd7c-3123-7c3e-9d4e-7a1f0b6c2d11'

  it('describe a rejected message', () => {
    const rejected = {
      source: 'web',
      code: 'missing_event',
      message: 'Give event.',
      index: 3,
      receivedAt: start,
      text: '{}',
    } as const
    const whole = { ...rejected, messageId: 'm-1' }
    const records = [whole, { ...whole, messageId: undefined }, { ...whole, text: undefined }].map(rejectedRecord)
    const values = records.map(({ value }) => String(value))
    for (const { key } of records) expectValue('rejected', key?.toString() ?? null, values)
  })

  it('describe a suppression', () => {
    const mark = { deletedAt: start, isSuppressed: true }
    expectValue('suppression', 'u-17', [
      encodeSuppressions([
        { source: undefined, ...mark },
        { source: 'web', ...mark },
      ]),
    ])
  })

  it('describe a deletion', () => {
    const record = {
      id,
      createdAt: start,
      users: 2,
      isSuppressed: false,
      sources: [{ id: 'web', destinations: ['crm'] }],
    }
    expectValue('deletion', deletionKey(id), [encodeDeletion(record), encodeDeletion(record, 2)])
  })

  it('describe a configuration object', () => {
    expectValue('configObject', 'destination/crm', [sealedValue(named('destination', 'crm'), destinationDocument())])
  })

  it('describe the outcome of a deletion', () => {
    const of = { request: id, source: 'web', destination: 'crm', userId: 'u-17' }
    expectValue('deletionOutcome', deletionOutcomeKey({ ...of, result: 'delivered', reason: undefined }), [
      encodeDeletionOutcome({ ...of, result: 'delivered', reason: undefined }),
      encodeDeletionOutcome({ ...of, result: 'undelivered', reason: 'retries_exhausted' }),
      encodeDeletionOutcome({ ...of, result: 'undelivered', reason: 'disabled' }),
    ])
  })

  it('describe the status of a process', () => {
    const rates = { admitted: 1, delivered: 0.5, failed: 0 }
    const facts = { services: ['dispatcher'], version: '1.2.3', startedAt: start, partitions: 6, rates } as const
    expectValue('processStatus', encodeKey({ kind: 'process', instance: 'pod-1' }), [encodeProcess(facts)])
  })

  const busy = { requestsInProgress: 1, inMemory: 2, pace: 3.5, pausedUntil: start }
  it.each([
    ['activity', encodeActivity([['crm', { breaker: 'open', nextProbeAt: start, ...busy }]])],
    ['results', encodeResults([['crm', { delivered: 1, failed: 2, deadLettered: 3, dropped: 4 }]])],
  ])('describe what a process knows about destinations: %s', (name, value) => {
    const payload = messageOf(name)['payload'] as Json
    const validate = ajv.compile(payload)
    expect([validate(JSON.parse(value)), validate.errors]).toEqual([true, null])
    const documented = Object.keys(payload['additionalProperties']?.['properties'] ?? {}).sort()
    if (name === 'activity') expect(Object.keys(JSON.parse(value).crm).sort()).toEqual(documented)
    else expect(validate({ crm: [1, 2, 3] })).toBe(false)
  })

  it('describe an attempt', () => {
    const of = { destination: 'crm', source: 'web', messageId: 'm-1', traceId: 'a'.repeat(32), type: 'track' } as const
    const made = { ...of, attempt: 1, outcomes: { 0: 'delivered' }, elapsedMs: 21 } as const
    const again = { ...made, decision: 'retried', reason: 'http_5xx', nextAttemptInMs: 10_000 } as const
    const origin = { topic: 'hookline.events', partition: 3, offset: 81_204, timestamp: start }
    const details = { origin, round: 0, statuses: { 0: 503 }, tierMs: 10_000, dueAt: '2026-03-01T00:00:10.000Z' }
    const result = {
      ...made,
      ...details,
      kind: 'result',
      outcomes: {},
      decision: 'dropped',
      reason: 'disabled',
    } as const
    expectValue('attempt', 'm-1', [
      encodeAttempt({ ...made, decision: 'delivered' }, start),
      encodeAttempt({ ...again, ...details } as typeof again, start),
      encodeAttempt(result, start),
    ])
  })
})
