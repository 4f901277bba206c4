import { describe, expect, it } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import type { LogSession } from '../../../../src/core/log-session.ts'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { createReadLog } from '../../../../src/services/operator/messages-and-dead-letters.ts'
import { JsonEventCodec } from '../../../support/kafka/json-codec.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { writtenDeadLetter } from '../../../support/operator/dead-letter-records.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const previewReplay = () => ({ reason: 'unreadable', message: 'Cannot be read.' }) as const

it('does not read for a request whose turn comes after its response: later ones get their turn', async () => {
  const clock = new ManualClock()
  const held: (() => void)[] = []
  let opened = 0
  const log = createReadLog({
    ...{
      topics: topicNames('hookline'),
      clock,
      logger: silent,
      recorded: 'failures',
      tiers: [],
      earlierTiers: [],
      codec: new JsonEventCodec(),
    },
    routing: () => createRouting({ sources: [], destinations: [] }),
    previewReplay,
    async sessions<T>(use: (session: LogSession) => Promise<T>): Promise<T> {
      opened++
      await new Promise<void>(resolve => held.push(resolve))
      return use(new MemorySession())
    },
  })
  const query = { filter: {}, limit: 1, before: undefined }
  const early = Array.from({ length: 10 }, () => log.deadLetters(query))
  await clock.advance(1_900)
  expect(await Promise.all(early)).toEqual(early.map(() => expect.objectContaining({ code: 'unavailable' })))
  const late = log.deadLetters(query)
  for (const release of held.splice(0)) release()
  while (held.length === 0) await new Promise(setImmediate)
  for (const release of held) release()

  expect(await late).toMatchObject({ kind: 'answered' })
  expect(opened).toBe(5)
})

it('finds a message when a retry topic of an earlier schedule was deleted', async () => {
  const topics = topicNames('hookline')
  const clock = new ManualClock()
  const session = new MemorySession()
  const earlier = durationMs(20_000)
  session.missing.add(topics.retry(earlier))
  const log = createReadLog({
    ...{ topics, clock, logger: silent, recorded: 'failures', tiers: [earlier], earlierTiers: [earlier] },
    codec: new JsonEventCodec(),
    routing: () => createRouting({ sources: [], destinations: [] }),
    previewReplay,
    sessions: use => use(session),
  })
  const found = await log.message({ id: 'm1', since: clock.now(), until: undefined })
  expect(found).toMatchObject({ kind: 'answered', body: { id: 'm1' } })
})

describe('a dead letter or a message', () => {
  const topics = topicNames('hookline')
  const timestamp = Date.parse('2026-03-01T00:00:00.000Z')
  const value = Buffer.from('schema:7:{"message":{"messageId":"m1"}}')

  function logWith(session: MemorySession) {
    const clock = new ManualClock()
    const codec: EventCodec = new JsonEventCodec()
    codec.learn = () => new Promise<never>(() => {})
    const log = createReadLog({
      ...{ topics, clock, logger: silent, recorded: 'failures', tiers: [], earlierTiers: [], codec },
      routing: () => createRouting({ sources: [], destinations: [] }),
      previewReplay,
      sessions: use => use(session),
    })
    const settle = () => new Promise<void>(setImmediate)
    /** The result after this time of the clock, or `'pending'`. */
    const resultAfter = async (ms: number, result: Promise<unknown>): Promise<unknown> => {
      await clock.advance(ms, settle)
      return Promise.race([result, settle().then(() => 'pending')])
    }
    return { log, codec, resultAfter }
  }

  it('without a response of the schema registry, returns a dead letter without its decoded event within the time limit of a response', async () => {
    const session = new MemorySession()
    const written = writtenDeadLetter(1, { value })
    session.append(topics.deadLetter, 0, timestamp, written)
    const { log, resultAfter } = logWith(session)
    expect(await resultAfter(1_900, log.deadLetter(String(written.key), true))).toMatchObject({
      kind: 'answered',
      body: { bodyBase64: value.toString('base64') },
    })
  })

  it('decodes the event of a dead letter with the timestamp of its original record', async () => {
    const session = new MemorySession()
    const written = writtenDeadLetter(1, { value })
    session.append(topics.deadLetter, 0, timestamp, written)
    const { log, codec } = logWith(session)
    const times: number[] = []
    codec.decode = (_, receivedAt) => {
      times.push(receivedAt)
      return { kind: 'undecodable', detail: '' }
    }
    await log.deadLetter(String(written.key), true)
    expect(times).toEqual([Number(written.headers['origin-timestamp'])])
    expect(times).not.toEqual([timestamp])
  })

  it('without a response of the schema registry, returns a message without its event, as partial, within the time limit of the reads', async () => {
    const session = new MemorySession()
    session.append(topics.events, 0, timestamp, { key: null, value, headers: {} })
    const { log, resultAfter } = logWith(session)
    const query = { id: 'm1', since: epochMs(timestamp), until: undefined }
    const found = await resultAfter(600, log.message(query))
    expect(found).toMatchObject({ kind: 'answered', body: { id: 'm1', partial: true } })
    expect(found).not.toHaveProperty('body.event')
  })

  it('without a response of the schema registry, returns a message with a known event offset as partial', async () => {
    const session = new MemorySession()
    const offset = session.append(topics.events, 0, timestamp, { key: null, value, headers: {} })
    const { log, resultAfter } = logWith(session)
    const query = { id: `${topics.events}/0/${offset}`, since: epochMs(timestamp), until: undefined }
    expect(await resultAfter(600, log.message(query))).toMatchObject({ kind: 'answered', body: { partial: true } })
  })
})
