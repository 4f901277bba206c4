import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { createEventCodec } from '../../../src/adapters/avro/event-codec.ts'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { encodeAttempt } from '../../../src/core/delivery/attempt-facts-and-record.ts'
import { initialState, retryRecord } from '../../../src/core/delivery/delivery-state.ts'
import { createRouting } from '../../../src/core/delivery/route.ts'
import { storedMessageId } from '../../../src/core/message/message-ids-and-required-identifiers.ts'
import { replayPreviewOf } from '../../../src/core/operator/replay-preview-of-dead-letter.ts'
import { durationMs, epochMs } from '../../../src/core/time.ts'
import { topicNames } from '../../../src/core/topics.ts'
import { createReadLog } from '../../../src/services/operator/messages-and-dead-letters.ts'
import {
  defaultPayload,
  defaultPolicy,
  destinationOf,
  eventOf,
  messageOf,
  recordOf,
  sourceOf,
} from '../../support/builders.ts'
import { MemorySession } from '../../support/kafka/memory-log-session.ts'
import { eventsTopic, MemoryRegistry } from '../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { writtenDeadLetter } from '../../support/operator/dead-letter-records.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { startOperator } from '../../support/operator/server.ts'
import { foundAttempt } from '../../support/operator/timeline-input.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'

const topics = topicNames('hookline')
const session = new MemorySession()
const now = Date.now()
const codec = await createEventCodec({ registry: new MemoryRegistry(), eventsTopic, clock: new ManualClock() })
const encodedEvent = (messageId: string): Buffer =>
  codec.encode(eventOf({ receivedAt: epochMs(now - 60_000), message: messageOf({ messageId, userId: 'secret-user' }) }))
const routing = createRouting({ sources: [sourceOf('web')], destinations: [destinationOf({ id: 'crm' })] })
const replaying = {
  ...{ context: { topics, routing, policy: defaultPolicy }, payload: defaultPayload },
  now: epochMs(now),
}
let server: Awaited<ReturnType<typeof startOperator>>

beforeAll(async () => {
  const log = createReadLog({
    ...{
      topics,
      codec,
      clock: processClock,
      logger: silent,
      recorded: 'failures',
      tiers: [durationMs(10_000)],
      earlierTiers: [],
    },
    sessions: use => use(session),
    routing: () => routing,
    previewReplay: (record, event) => replayPreviewOf(record, event, replaying),
  })
  server = await startOperator(new ScriptedOperatorApi(), { log })
})
afterAll(() => server.stop())

const get = (path: string, more: Parameters<typeof askObjects>[3] = {}) =>
  askObjects(server, `GET ${path}`, undefined, more)
const placeOf = (offset: number) => ({ topic: topics.events, partition: 0, offset })
/** Appends an event. Commits its offset, as dispatchers do, unless `isDone` is false. */
function written(messageId: string, { isDone = true } = {}): number {
  const key = Buffer.from('secret-user')
  const offset = session.append(topics.events, 0, now - 60_000, { key, value: encodedEvent(messageId), headers: {} })
  if (isDone) session.commit(topics.dispatcherGroup, topics.events, [{ offset: offset + 1, metadata: '' }])
  return offset
}

describe('GET /v1/messages/:id', () => {
  it('finds a message that was delivered at the first attempt', async () => {
    const offset = written('first-attempt')
    const { status, body } = await get('/v1/messages/first-attempt')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: 'first-attempt',
      event: { sourceId: 'web', type: 'track', position: { topic: topics.events, partition: 0, offset } },
      records: [{ topic: topics.events, partition: 0, offset, kind: 'event' }],
      destinations: [{ id: 'crm', state: 'delivered', inferred: true, attempts: [] }],
    })
    expect(body).not.toHaveProperty('partial')
    expect(JSON.stringify(body)).not.toContain('secret-user')
  })

  it('joins the attempts with the copy that waits, and reads the event directly', async () => {
    const offset = written('waits')
    for (let other = 0; other < 5; other++) written(`later-${other}`)
    const origin = { topic: topics.events, partition: 0, offset, timestamp: epochMs(now - 60_000) }
    const { at, ...attempt } = foundAttempt({ at: now - 50_000, messageId: 'waits', decision: 'retried', origin })
    const failed = { ...attempt, outcomes: { 0: 'http_5xx' as const }, statuses: { 0: 503 } }
    const value = Buffer.from(encodeAttempt(failed, at))
    session.append(topics.attempts, 0, now - 50_000, { key: Buffer.from('waits'), value, headers: {} })
    const state = { ...initialState(origin, 'crm', 'waits', origin.timestamp, durationMs(1)), attempt: 1 }
    const retry = topics.retry(durationMs(10_000))
    session.append(retry, 0, now - 50_000, retryRecord(recordOf({ value: encodedEvent('waits') }), state))
    session.count = 0
    const { body } = await get('/v1/messages/waits')
    expect(body).toMatchObject({
      event: { position: { offset } },
      records: [{ kind: 'event' }, { topic: retry, kind: 'waiting', destination: 'crm' }],
      destinations: [{ id: 'crm', state: 'waiting', waiting: { tier: '10s' }, attempts: [{ number: 1, status: 503 }] }],
    })
    expect(session.count).toBeLessThan(10)
    session.commit(topics.retriesGroup, retry, [{ offset: 1, metadata: '' }])
    expect((await get('/v1/messages/waits')).body).toMatchObject({
      destinations: [{ state: 'unknown', reason: 'record_missing' }],
    })
  })

  it('says that an event is not read by the dispatchers yet', async () => {
    written('queued', { isDone: false })
    const { body } = await get('/v1/messages/queued')
    expect(body).toMatchObject({ destinations: [{ id: 'crm', state: 'waiting' }] })
    session.commit(topics.dispatcherGroup, topics.events, [{ offset: 1_000, metadata: '' }])
  })

  it('finds nothing outside of the time range', async () => {
    written('too-old')
    const { status, body } = await get('/v1/messages/too-old?since=10s')
    expect([status, body?.['records'], body?.['destinations']]).toEqual([200, [], []])
  })

  it('searches the last 24 hours also when until is in the future', async () => {
    written('until-later')
    const { body } = await get(`/v1/messages/until-later?until=${new Date(now + 90_000_000).toISOString()}`)
    expect(body?.['records']).toHaveLength(1)
  })

  it.each([0, 999_999])(
    'does not say that retention has removed an event that never existed: offset %i',
    async offset => {
      written('another')
      const { body } = await get(`/v1/messages/${encodeURIComponent(`${topics.events}/0/${offset}`)}`)
      expect(body).toMatchObject({ records: [], destinations: [] })
      expect(body).not.toHaveProperty('eventRemoved')
    },
  )

  it('says that retention has removed the event', async () => {
    const offset = written('removed')
    const origin = { ...placeOf(offset), timestamp: epochMs(now - 60_000) }
    const { at, ...attempt } = foundAttempt({ at: now - 50_000, messageId: 'removed', origin })
    const value = Buffer.from(encodeAttempt(attempt, at))
    session.append(topics.attempts, 0, now - 50_000, { key: Buffer.from('removed'), value, headers: {} })
    session.removed.set(`${topics.events}/0`, offset + 1)
    const { body } = await get('/v1/messages/removed')
    session.removed.clear()
    expect(body).toMatchObject({ eventRemoved: true, destinations: [{ id: 'crm', state: 'delivered' }] })
  })

  it.each([
    ['since=yesterday', 'since'],
    ['since=1h&until=2h', 'until'],
    ['since=1h&since=2h', 'since'],
    ['limit=1', 'limit'],
  ])('refuses ?%s', async (query, path) => {
    const { status, body } = await get(`/v1/messages/m?${query}`)
    expect([status, body?.code, body?.problems?.[0]?.path]).toEqual([400, 'invalid_query', path])
  })
})

describe('GET /v1/dead-letters', () => {
  const key = String(writtenDeadLetter(1).key)
  beforeAll(() => {
    const one = writtenDeadLetter(1, { messageId: 'dead', value: encodedEvent('dead') })
    session.append(topics.deadLetter, 0, now - 40_000, one)
    session.append(topics.deadLetter, 0, now - 30_000, writtenDeadLetter(2, { destination: 'ads' }))
  })

  it('lists them newest first, and selects', async () => {
    const { body } = await get('/v1/dead-letters')
    expect(body).toMatchObject({
      deadLetters: [
        { destination: 'ads', messageId: 'm2' },
        { key, destination: 'crm', messageId: 'dead', reason: 'retries_exhausted', outcome: 'http_5xx', attempts: 3 },
      ],
    })
    const one = await get('/v1/dead-letters?destination=crm&outcome=http_5xx&message=dead&since=1h&until=10s')
    expect(one.body?.['deadLetters']).toHaveLength(1)
    const page = await get('/v1/dead-letters?limit=1')
    const rest = await get(`/v1/dead-letters?limit=1&after=${page.body?.['next']}`)
    expect(rest.body?.['deadLetters']).toMatchObject([{ key }])
  })

  it('selects by the id that the sender has chosen, also when Hookline stores its hash', async () => {
    const long = 'm'.repeat(101)
    session.append(topics.deadLetter, 0, now - 5_000, writtenDeadLetter(3, { messageId: storedMessageId(long) }))
    const { body } = await get(`/v1/dead-letters?message=${long}`)
    expect(body?.['deadLetters']).toMatchObject([{ messageId: storedMessageId(long) }])
  })

  it('gives headers, the event and the requests of a replay only to the role operate', async () => {
    const path = `/v1/dead-letters/${encodeURIComponent(key)}`
    const full = (await get(path)).body
    expect(full).toMatchObject({
      ...{ key, sourceId: 'web', type: 'track' },
      headers: { 'message-id': 'dead', 'origin-key': 'user-of-the-event' },
      body: { sourceId: 'web', message: { messageId: 'dead', userId: 'secret-user' } },
      replay: {
        requests: [{ webhook: '0', url: 'https://hooks.example.com/***', headers: { 'X-Message-Id': 'dead' } }],
        body: expect.stringContaining('"userId":"secret-user"'),
      },
    })
    for (const read of [path, '/v1/dead-letters', '/v1/messages/dead']) {
      const { status, body } = await get(read, { as: 'read' })
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toMatch(/secret-user|user-of-the-event|"(headers|body|bodyBase64|replay)"/)
    }
  })

  it('has the bytes of an event that cannot be decoded', async () => {
    const ofAds = String(writtenDeadLetter(2, { destination: 'ads' }).key)
    const { body } = await get(`/v1/dead-letters/${encodeURIComponent(ofAds)}`)
    expect(body).toMatchObject({
      bodyBase64: Buffer.from('event 2').toString('base64'),
      replay: { reason: 'unknown_destination', message: expect.stringContaining('no longer exists') },
    })
  })

  it('shows a dead letter in the timeline of its message', async () => {
    const { body } = await get('/v1/messages/dead')
    expect(body).toMatchObject({ destinations: [{ id: 'crm', state: 'dead_lettered', deadLetterKey: key }] })
  })

  it.each([
    ['reason=nonsense', 'reason'],
    ['outcome=nonsense', 'outcome'],
    ['since=x', 'since'],
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['after=%00', 'after'],
    ['after=AAAA', 'after'],
    ['q=x', 'q'],
  ])('refuses ?%s', async (query, path) => {
    const { status, body } = await get(`/v1/dead-letters?${query}`)
    expect([status, body?.code, body?.problems?.[0]?.path]).toEqual([400, 'invalid_query', path])
  })

  it('answers every id, key and query with a JSON object and no failure of the server', async () => {
    const hostile = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.constantFrom('..', '%', '\0', '__proto__', '/', 'a/../b', `${'x'.repeat(499)}`, '💥', '\r\nX: y', key),
    )
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (id, query) => {
        const text = encodeURIComponent(id.toWellFormed())
        const value = encodeURIComponent(query.toWellFormed())
        for (const path of [
          `/v1/messages/${text}`,
          `/v1/messages/${text}?since=${value}`,
          `/v1/dead-letters/${text}`,
          `/v1/dead-letters?after=${value}&destination=${text}`,
        ]) {
          const { status, body } = await get(path)
          expect([200, 400, 404]).toContain(status)
          expect(typeof body).toBe('object')
        }
      }),
      { numRuns: 60 },
    )
  })
})
