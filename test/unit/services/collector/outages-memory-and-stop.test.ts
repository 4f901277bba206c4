import { describe, expect, it } from '@jest/globals'
import { CollectorHarness } from '../../../support/collector/harness.ts'

const page = { type: 'page', userId: 'u', messageId: 'a' }
const batch = { batch: [page, page, page] }
const accepted = { kind: 'accepted', rejected: [] }
const unavailable = { kind: 'refused', code: 'unavailable', retryAfter: 5 }
const down = new Error('no leader')

async function failing(): Promise<CollectorHarness> {
  const collector = new CollectorHarness()
  const box = collector.request(batch)
  await collector.settle()
  collector.producer.answer(down)
  await collector.settle()
  expect(box.answer).toMatchObject(unavailable)
  return collector
}

describe('when Kafka does not store a record', () => {
  it('refuses the request immediately, though other records of it may be stored', async () => {
    const collector = new CollectorHarness()
    const box = collector.request(batch)
    await collector.settle()
    const held = collector.held('records')
    collector.producer.answer(undefined, 1)
    collector.producer.answer(down, 1)
    await collector.settle()
    expect(box.answer).toMatchObject(unavailable)
    expect(collector.count('produceFailures{hookline.events}')).toBe(1)
    expect(collector.count('collectorMessages{web,accepted}')).toBe(0)
    // The producer has not yet reported the result of the third record, so its memory is still in
    // use.
    expect(collector.held('records')).toBe(held / 3)
    collector.producer.answer()
    expect(collector.held('records')).toBe(0)
    expect(collector.clock.timers).toBe(0)
  })

  it('refuses the request after ten seconds without an answer', async () => {
    const collector = new CollectorHarness()
    const box = collector.request(batch)
    await collector.advance(9_999)
    expect(box.answer).toBeUndefined()
    await collector.advance(1)
    expect(box.answer).toMatchObject(unavailable)
    expect(collector.held('records')).toBeGreaterThan(0)
    collector.producer.answer()
    expect(collector.held('records')).toBe(0)
    // The record is stored late. The sender has already got an error, so the record does not count
    // as accepted.
    expect(collector.count('collectorMessages{web,accepted}')).toBe(0)
  })

  it('leaves no timer after an answer in time', async () => {
    const collector = new CollectorHarness()
    expect(await collector.answered(batch)).toEqual(accepted)
    expect(collector.clock.timers).toBe(0)
  })
})

describe('while Kafka stores the records of some partitions only', () => {
  it('accepts all requests, is ready, and logs the failures at most once a minute', async () => {
    const collector = new CollectorHarness()
    // A failed write begins an outage only if no write has succeeded for 10 s.
    for (let failures = 0; failures < 21; failures += 1) {
      expect(await collector.answered(batch)).toEqual(accepted)
      await collector.advance(3_000)
      const failed = collector.request(batch)
      await collector.settle()
      collector.producer.answer(down)
      await collector.settle()
      expect(failed.answer).toMatchObject(unavailable)
      expect(collector.readyFailures()).toEqual([])
    }
    const line =
      'warn: Kafka did not store some messages (see "error"), so their senders must send them again; the collector still accepts requests; check that each partition of the topic has a leader and enough in-sync replicas'
    expect(collector.lines).toEqual([line, line])
  })
})

describe('while Kafka stores nothing', () => {
  it('refuses requests without using memory, except for one probe a second', async () => {
    const collector = await failing()
    const refused = await collector.answered(batch)
    expect(refused).toMatchObject(unavailable)
    expect(collector.events()).toHaveLength(3)
    await collector.advance(1_000)
    const probe = collector.request(batch)
    expect(await collector.answered({ batch: [] }, { headerKey: 'app-key' })).toMatchObject(unavailable)
    expect(collector.producer.waiting).toEqual([])
    await collector.settle()
    expect(probe.answer).toEqual(accepted)
  })

  it('admits a probe each second, even if other requests fail more often', async () => {
    const collector = new CollectorHarness()
    const first = collector.request(batch)
    for (let others = 0; others < 29; others += 1) {
      await collector.advance(100)
      collector.request(batch)
    }
    // 2.9 s have passed. The first request now reaches its time limit of ten seconds, then another
    // request reaches its limit every 100 ms.
    await collector.advance(8_100)
    expect(first.answer).toMatchObject(unavailable)
    const probe = collector.request(batch)
    await collector.settle()
    expect(probe.answer).toBeUndefined()
    collector.producer.answer()
    await collector.settle()
    expect(probe.answer).toEqual(accepted)
  })

  it('does not use an invalid request as a probe', async () => {
    const collector = await failing()
    await collector.advance(1_000)
    expect(await collector.answered({ batch: [] }, { headerKey: 'no' })).toMatchObject({ code: 'invalid_write_key' })
    expect(await collector.answered('no JSON')).toMatchObject({ code: 'invalid_json' })
    expect(await collector.answered({ batch: [] })).toEqual(accepted)
    expect(await collector.answered({ batch: [{ type: 'page' }] })).toMatchObject({ rejected: [{ index: 0 }] })
    expect(await collector.answered({ batch: [page, { type: 'page' }] }, { strict: true })).toMatchObject({
      code: 'rejected',
    })
    expect(await collector.answered(batch)).toEqual(accepted)
  })

  it('accepts all requests after one acknowledgement, and logs the start and end of the outage', async () => {
    const collector = await failing()
    await collector.answered(batch)
    await collector.advance(1_000)
    await collector.answered(batch)
    expect(await collector.answered(batch)).toEqual(accepted)
    expect(collector.lines).toEqual([
      'error: the collector could not write messages to Kafka (see "error"), so their senders must send them again; until a write succeeds, the collector refuses all requests except one per second; check the Kafka brokers',
      'info: writes to Kafka succeed again; the collector accepts requests again',
    ])
  })

  it('accepts requests after a late acknowledgement of an earlier request', async () => {
    const collector = new CollectorHarness()
    const late = collector.request(batch)
    await collector.advance(10_000)
    expect(late.answer).toMatchObject(unavailable)
    expect(await collector.answered(batch)).toMatchObject(unavailable)
    collector.producer.answer()
    expect(await collector.answered(batch)).toEqual(accepted)
  })

  it('is not ready after 15 s of failures, and ready again after a while without any', async () => {
    const collector = await failing()
    expect(collector.readyFailures()).toEqual([])
    for (let second = 0; second < 15; second++) {
      await collector.advance(1_000)
      const box = collector.request(batch)
      await collector.settle()
      collector.producer.answer(down)
      await collector.settle()
      expect(box.answer).toMatchObject(unavailable)
    }
    expect(collector.readyFailures()).toEqual(['kafka'])
    await collector.advance(29_999)
    expect(collector.readyFailures()).toEqual(['kafka'])
    await collector.advance(1)
    expect(collector.readyFailures()).toEqual([])
    expect(await collector.answered(batch)).toEqual(accepted)
  })
})

describe('memory', () => {
  it('of bodies: refuses more than the limit, and reuses released memory', () => {
    const collector = new CollectorHarness({
      memory: { bodies: { authenticated: 1_200, keyless: 100, perAddress: 10_000 } },
    })
    const open = (sourceId: string) => collector.service.openBody({ sourceId, address: 'x' }, () => {})
    const first = open('web')
    first.received()
    expect([first.take(600), open('app').take(301), open('app').take(300)]).toEqual([true, false, true])
    expect(collector.held('bodies')).toBe(900)
    expect(collector.count('collectorBodiesRefused{budget}')).toBe(1)
    first.release()
    expect(open('web').take(450)).toBe(true)
  })

  it('of records: refuses a request that does not fit, and appends none of its records', async () => {
    const collector = new CollectorHarness({ memory: { records: 2_000 } })
    const first = collector.request(batch)
    await collector.settle()
    const held = collector.held('records')
    expect(held).toBeGreaterThan(1_000)
    const second = collector.request(batch)
    await collector.settle()
    expect(second.answer).toMatchObject({ code: 'unavailable', retryAfter: 1 })
    expect(collector.held('records')).toBe(held)
    expect(collector.events()).toHaveLength(3)
    collector.producer.answer()
    await collector.settle()
    expect(first.answer).toEqual(accepted)
    expect(await collector.answered(batch)).toEqual(accepted)
    // A lack of memory does not mean that Kafka has an outage.
    expect(collector.count('produceFailures{hookline.events}')).toBe(0)
  })

  it('of records: accepts one request larger than the limit when no other is in progress', async () => {
    const collector = new CollectorHarness({ memory: { records: 1 } })
    expect(await collector.answered(batch)).toEqual(accepted)
    expect(collector.held('records')).toBe(0)
  })

  it('of rejected messages: drops those that do not fit', async () => {
    const collector = new CollectorHarness({ memory: { rejected: 1 } })
    const box = collector.request({ batch: [{ type: 'page' }, { type: 'page' }] })
    await collector.settle()
    expect(box.answer).toMatchObject({ kind: 'accepted', rejected: [{ index: 0 }, { index: 1 }] })
    expect(collector.rejects()).toMatchObject([{ index: 0 }])
    expect(collector.count('collectorRejectsLost{}')).toBe(1)
  })

  it('of rejected messages: takes none of the memory of records', async () => {
    const collector = new CollectorHarness({ memory: { records: 2_000, rejected: 100_000 } })
    collector.request(Array(500).fill(1))
    await collector.settle()
    expect(collector.held('rejected')).toBeGreaterThan(70_000)
    expect(collector.held('records')).toBe(0)
    expect(await collector.answered(batch, { headerKey: 'app-key' })).toEqual(accepted)
    expect(collector.held('rejected')).toBe(0)
  })

  it('of records: one source leaves memory for another', async () => {
    const collector = new CollectorHarness({ memory: { records: 30_000 } })
    const own = Array.from({ length: 20 }, () => collector.request(batch))
    await collector.settle()
    expect(own.at(-1)?.answer).toMatchObject({ code: 'unavailable', retryAfter: 1 })
    const other = collector.request(batch, { headerKey: 'app-key' })
    await collector.settle()
    collector.producer.answer()
    await collector.settle()
    expect(other.answer).toEqual(accepted)
    expect(collector.held('records')).toBe(0)
  })
})

describe('the last call', () => {
  it('makes the process not ready, and still accepts requests', async () => {
    const collector = new CollectorHarness()
    expect(collector.readyFailures()).toEqual([])
    collector.service.startDraining()
    expect(collector.readyFailures()).toEqual(['collector'])
    expect(await collector.answered(batch)).toEqual(accepted)
  })
})

describe('the stop', () => {
  it('waits for requests in progress and refuses new ones', async () => {
    const collector = new CollectorHarness()
    const inProgress = [collector.request(batch), collector.request(batch)]
    await collector.settle()
    let isStopped = false
    const stopped = collector.service.stop().then(() => {
      isStopped = true
    })
    expect(collector.readyFailures()).toEqual(['collector'])
    expect(await collector.answered({ batch: [] })).toMatchObject({ code: 'unavailable', retryAfter: 1 })
    // `answered` also lets Kafka acknowledge the records of the requests in progress.
    expect(inProgress.map(({ answer }) => answer)).toEqual([accepted, accepted])
    await stopped
    expect(isStopped).toBe(true)
  })

  it('resolves after the last response, at the deadline at the latest', async () => {
    const collector = new CollectorHarness()
    const box = collector.request(batch)
    await collector.settle()
    let isStopped = false
    void collector.service.stop().then(() => {
      isStopped = true
    })
    await collector.advance(9_999)
    expect(isStopped).toBe(false)
    await collector.advance(1)
    expect(isStopped).toBe(true)
    expect(box.answer).toMatchObject(unavailable)
  })

  it('resolves immediately with no request in progress', async () => {
    await new CollectorHarness().service.stop()
  })
})
