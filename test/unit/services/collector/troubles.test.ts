import { describe, expect, it } from '@jest/globals'
import { CollectorHarness } from '../../../support/collector/harness.ts'

const page = { type: 'page', userId: 'u', messageId: 'a' }
const batch = { batch: [page, page, page] }
const accepted = { kind: 'accepted', rejected: [] }
const unavailable = { kind: 'refused', code: 'unavailable', retryAfter: 5 }
const down = new Error('no leader')

/** Where the first request has just failed. */
async function failing(): Promise<CollectorHarness> {
  const collector = new CollectorHarness()
  const box = collector.request(batch)
  await collector.settle()
  collector.producer.answer(down)
  await collector.settle()
  expect(box.answer).toMatchObject(unavailable)
  return collector
}

describe('Kafka does not take a record', () => {
  it('refused at once, though others of the request may be stored: all of it is to be sent again', async () => {
    const collector = new CollectorHarness()
    const box = collector.request(batch)
    await collector.settle()
    collector.producer.answer(undefined, 1)
    collector.producer.answer(down, 1)
    await collector.settle()
    expect(box.answer).toMatchObject(unavailable)
    expect(collector.count('produceFailures{hookline.events}')).toBe(1)
    expect(collector.count('collectorMessages{web,accepted}')).toBe(0)
    // The third one still lies in the producer.
    expect(collector.held('records')).toBeGreaterThan(0)
    collector.producer.answer()
    expect(collector.held('records')).toBe(0)
    expect(collector.clock.timers).toBe(0)
  })

  it('does not answer within ten seconds: the same', async () => {
    const collector = new CollectorHarness()
    const box = collector.request(batch)
    await collector.advance(9_999)
    expect(box.answer).toBeUndefined()
    await collector.advance(1)
    expect(box.answer).toMatchObject(unavailable)
    expect(collector.held('records')).toBeGreaterThan(0)
    collector.producer.answer()
    expect(collector.held('records')).toBe(0)
    // Stored after all: but the sender was told otherwise.
    expect(collector.count('collectorMessages{web,accepted}')).toBe(0)
  })

  it('an answer in time leaves no timer', async () => {
    const collector = new CollectorHarness()
    expect(await collector.answered(batch)).toEqual(accepted)
    expect(collector.clock.timers).toBe(0)
  })
})

describe('while Kafka takes nothing', () => {
  it('requests are refused without anything being held, but for one a second', async () => {
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

  it('a request that is wrong costs no try', async () => {
    const collector = await failing()
    await collector.advance(1_000)
    expect(await collector.answered({ batch: [] }, { headerKey: 'no' })).toMatchObject({ code: 'invalid_write_key' })
    expect(await collector.answered('no JSON')).toMatchObject({ code: 'invalid_json' })
    expect(await collector.answered({ batch: [] })).toEqual(accepted)
    expect(await collector.answered(batch)).toEqual(accepted)
  })

  it('one acknowledgement, and all are let in; it is logged when it begins and when it ends', async () => {
    const collector = await failing()
    await collector.answered(batch)
    await collector.advance(1_000)
    await collector.answered(batch)
    expect(await collector.answered(batch)).toEqual(accepted)
    expect(collector.lines).toEqual([
      'error: messages are not stored; most requests are refused until one is',
      'info: messages are stored again',
    ])
  })

  it('a request that waits since before, and is stored late, tells as well', async () => {
    const collector = new CollectorHarness()
    const late = collector.request(batch)
    await collector.advance(10_000)
    expect(late.answer).toMatchObject(unavailable)
    expect(await collector.answered(batch)).toMatchObject(unavailable)
    collector.producer.answer()
    expect(await collector.answered(batch)).toEqual(accepted)
  })

  it('the process is not ready after a while of failures, and ready to be tried when none has shown for long', async () => {
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
  it('of bodies: what is not to be had is refused, what was given back can be had again', () => {
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

  it('of records: a request that finds no room is to come again, and nothing of it is handed over', async () => {
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
    // Room that is missing is no sign of Kafka's.
    expect(collector.count('produceFailures{hookline.events}')).toBe(0)
  })

  it('of records: one request that is larger than all of it gets through when nothing else is there', async () => {
    const collector = new CollectorHarness({ memory: { records: 1 } })
    expect(await collector.answered(batch)).toEqual(accepted)
    expect(collector.held('records')).toBe(0)
  })

  it('rejected messages find no room: they are let go', async () => {
    const collector = new CollectorHarness({ memory: { records: 1 } })
    collector.request(batch)
    const rejected = collector.request({ batch: [{ type: 'page' }] })
    await collector.settle()
    expect(rejected.answer).toMatchObject({ kind: 'accepted', rejected: [{ index: 0 }] })
    expect(collector.rejects()).toEqual([])
    expect(collector.count('collectorRejectsLost{}')).toBe(1)
  })
})

describe('the last call', () => {
  it('sends nobody here any more, and takes what comes all the same', async () => {
    const collector = new CollectorHarness()
    expect(collector.readyFailures()).toEqual([])
    collector.service.lastCall()
    expect(collector.readyFailures()).toEqual(['collector'])
    expect(await collector.answered(batch)).toEqual(accepted)
  })
})

describe('the stop', () => {
  it('waits for what is under way and lets nothing in any more', async () => {
    const collector = new CollectorHarness()
    const underWay = [collector.request(batch), collector.request(batch)]
    await collector.settle()
    let isStopped = false
    const stopped = collector.service.stop().then(() => {
      isStopped = true
    })
    expect(collector.readyFailures()).toEqual(['collector'])
    expect(await collector.answered({ batch: [] })).toMatchObject({ code: 'unavailable', retryAfter: 1 })
    // Those two were answered by it.
    expect(underWay.map(({ answer }) => answer)).toEqual([accepted, accepted])
    await stopped
    expect(isStopped).toBe(true)
  })

  it('does not end before the last answer, which comes at the deadline at the latest', async () => {
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

  it('with nothing under way ends at once', async () => {
    await new CollectorHarness().service.stop()
  })
})
