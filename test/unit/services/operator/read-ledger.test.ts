import { describe, expect, it } from '@jest/globals'
import { topicMissing } from '../../../../src/adapters/kafka/kafkajs/errors.ts'
import type { LedgerFilter } from '../../../../src/core/ledger/ledger-balance-rows.ts'
import { LedgerCounts } from '../../../../src/core/ledger/ledger-counts.ts'
import { ledgerHeaders } from '../../../../src/core/ledger/ledger-record-and-chain-reading.ts'
import { RecordChain } from '../../../../src/core/ledger/ledger-record-chain.ts'
import type { LogSession, WithLogSession } from '../../../../src/core/log-session.ts'
import type { Position, TopicReader } from '../../../../src/core/ports.ts'
import { encodeState, metadataOf } from '../../../../src/core/progress/commit-metadata.ts'
import { type DurationMs, durationMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { createReadLedger } from '../../../../src/services/operator/read-ledger.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const topics = topicNames('hookline')
const filter: LedgerFilter = { since: 0, until: 1 }

const current = durationMs(10_000)
const earlier = durationMs(20_000)
const tiers = { tiers: [current, earlier], earlierTiers: [earlier] }

interface Given {
  readonly commits: (groupId: string) => Promise<readonly Position[]>
  readonly missing?: DurationMs
  readonly sessions?: WithLogSession
}

function ledgerWith({ commits, sessions = use => use(new MemorySession()), missing }: Given) {
  const clock = new ManualClock()
  const reader: TopicReader = {
    async readToEnd(topic) {
      if (missing !== undefined && topic === topics.retry(missing)) throw topicMissing(topic)
      return 0
    },
  }
  const limits = { records: 100, time: durationMs(1_200), answerWithin: durationMs(1_800) }
  const read = createReadLedger({ commits, reader, sessions, topics, ...tiers, clock }, limits)
  return { clock, read: (given: Partial<LedgerFilter> = {}) => read({ ...filter, ...given }) }
}

describe('a request', () => {
  it('gets a partial answer without rows when Kafka does not respond in time', async () => {
    const { clock, read } = ledgerWith({ commits: () => new Promise(() => {}) })
    const answers = [read(), read({ destination: 'crm' })]
    await clock.advance(1_800)
    for (const answer of answers) {
      expect(await answer).toMatchObject({ partial: true, rows: [] })
      expect((await answer).totals).not.toHaveProperty('difference')
    }
  })

  it('gets a partial answer when only the ledger topic does not respond', async () => {
    const { clock, read } = ledgerWith({ ...storedLedger(), sessions: () => new Promise(() => {}) })
    const answer = read()
    await clock.advance(1_800)
    expect(await answer).toMatchObject({ partial: true })
  })

  it('is not delayed by a reading that has not ended in time', async () => {
    let asked = 0
    const { clock, read } = ledgerWith({
      commits: () => (++asked === 1 ? new Promise(() => {}) : Promise.resolve([])),
    })
    const first = read()
    await clock.advance(1_800)
    await first
    expect(await read()).not.toHaveProperty('partial')
  })

  it('causes no reading when it has waited for its whole time', async () => {
    let asked = 0
    const held = Promise.withResolvers<readonly Position[]>()
    const { clock, read } = ledgerWith({
      commits: () => {
        asked++
        return held.promise
      },
    })
    const answers = [read(), read({ destination: 'crm' })]
    await clock.advance(1_300)
    held.resolve([])
    for (const answer of answers) expect(await answer).toMatchObject({ partial: true })
    // Only the first request has read the commits, with one call for each of two groups.
    expect(asked).toBe(2)
    expect(await read()).not.toHaveProperty('partial')
  })

  it('shares a running reading of the same counts', async () => {
    let asked = 0
    const { read } = ledgerWith({
      commits: async () => {
        asked++
        return []
      },
    })
    await Promise.all([read(), read(), read()])
    expect(asked).toBe(2)
    await Promise.all([read(), read({ destination: 'crm' }), read({ until: 2 })])
    expect(asked).toBe(8)
  })

  it('gets a partial answer without rows when Kafka fails', async () => {
    const failure = Object.assign(new Error('no broker'), { code: 'NOT_AUTHORIZED', retriable: false })
    const { read } = ledgerWith({ commits: () => Promise.reject(failure) })
    expect(await read()).toMatchObject({ partial: true, rows: [] })
  })

  it('gets a complete answer when a retry topic of an earlier schedule was deleted', async () => {
    expect(await ledgerWith({ commits: async () => [], missing: earlier }).read()).not.toHaveProperty('partial')
    expect(await ledgerWith({ commits: async () => [], missing: current }).read()).toMatchObject({ partial: true })
  })

  it('fails with the error of a bug', async () => {
    const { read } = ledgerWith({ commits: () => Promise.reject(new Error('a bug')) })
    await expect(Promise.all([read(), read()])).rejects.toThrow('a bug')
    await expect(read()).rejects.toThrow('a bug')
  })
})

/** A commit that names two ledger records. The commit and each record count one delivery. */
function storedLedger() {
  const session = new MemorySession()
  const one = (): LedgerCounts => {
    const counts = new LedgerCounts()
    for (const field of ['admitted', 'delivered'] as const) counts.add('crm', 0, field)
    return counts
  }
  const key = Buffer.from(`${topics.events}/0`)
  let tail = { last: undefined as number | undefined, newestHour: 0 }
  for (let record = 0; record < 2; record++) {
    const chain = new RecordChain(tail.last, tail.newestHour)
    const batch = chain.next(one())
    const outgoing = { key, value: batch.value, headers: ledgerHeaders(batch) }
    chain.stored(batch, session.append(topics.ledger, 0, 0, outgoing))
    tail = { last: chain.last, newestHour: chain.newestHour }
  }
  const encoded = encodeState(9, { done: [], partlyDone: [], received: 9, resultOf: () => undefined })
  const metadata = metadataOf(encoded, { exactSince: 0, ...tail, counts: one() }) ?? ''
  const position = { topic: topics.events, partition: 0, offset: 9, metadata }
  const commits = async (group: string) => (group === topics.dispatcherGroup ? [position] : [])
  return { session, commits, sessions: (async use => use(session)) satisfies WithLogSession }
}

describe('the counts of ledger records', () => {
  it('are added to those of the commit', async () => {
    const { session, ...given } = storedLedger()
    const view = await ledgerWith(given).read()
    expect(view).not.toHaveProperty('partial')
    expect(view.totals).toMatchObject({ admitted: 3, delivered: 3, difference: 0 })
    expect(session.count).toBe(2)
  })

  it('are added once when the session begins again', async () => {
    const { session, commits } = storedLedger()
    const sessions: WithLogSession = async use => {
      await use(session)
      return use(session)
    }
    expect((await ledgerWith({ commits, sessions }).read()).totals).toMatchObject({ admitted: 3 })
  })

  it('are not complete when the topic was created again', async () => {
    const { commits } = storedLedger()
    const view = await ledgerWith({ commits }).read()
    expect(view).toMatchObject({ partial: true, totals: { admitted: 1 } })
    expect(view.totals).not.toHaveProperty('difference')
  })

  it('are not complete when the topic does not exist', async () => {
    const { commits } = storedLedger()
    const missing = Object.assign(new Error('topic hookline.ledger does not exist'), { code: 'TOPIC_MISSING' })
    const session = { ranges: () => Promise.reject(missing) } as unknown as LogSession
    const view = await ledgerWith({ commits, sessions: use => use(session) }).read()
    expect(view).toMatchObject({ partial: true, rows: [{ destination: 'crm', admitted: 1 }] })
  })

  it('are complete without the records that retention has deleted', async () => {
    const { session, ...given } = storedLedger()
    session.removed.set(`${topics.ledger}/0`, 1)
    const view = await ledgerWith(given).read()
    expect([view.partial, view.totals.admitted]).toEqual([undefined, 2])
  })

  it('are not read when they are all of earlier hours', async () => {
    const { session, ...given } = storedLedger()
    await ledgerWith(given).read({ since: 1, until: 2 })
    expect(session.count).toBe(0)
  })
})
