import { describe, expect, it } from '@jest/globals'
import {
  type DeletionOutcome,
  type DeletionRecord,
  deletionKey,
  deletionOutcomeKey,
  encodeDeletion,
  encodeDeletionOutcome,
  encodeDeletionParts,
} from '../../../../src/core/deletion/deletion-record-and-status.ts'
import { newDeletionId } from '../../../../src/core/deletion/deletion-request.ts'
import type { LogRecord, Portion, TopicReader } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { commandLimits, createFindDeletion, requestLimits } from '../../../../src/services/operator/find-deletion.ts'
import { ManualClock, turns } from '../../../support/manual-clock.ts'

const record = (id: string, users = 2): readonly [string, string] => {
  const deletion: DeletionRecord = {
    id,
    createdAt: epochMs(1_000),
    users,
    isSuppressed: false,
    sources: [{ id: 'web', destinations: ['crm'] }],
  }
  return [deletionKey(id), encodeDeletion(deletion)]
}
const outcome = (request: string, userId: string, result: 'delivered' | 'undelivered'): readonly [string, string] => {
  const ended: DeletionOutcome = {
    ...{ request, source: 'web', destination: 'crm', userId, result },
    reason: result === 'delivered' ? undefined : 'http_4xx',
  }
  return [deletionOutcomeKey(ended), encodeDeletionOutcome(ended)]
}

/** A topic whose reads end only when the test resolves a promise. */
class Topic implements TopicReader {
  records: (readonly [key: string | null, value: string | null])[] = []
  readonly readings: PromiseWithResolvers<void>[] = []
  readonly portions: Portion[] = []
  readonly clock = new ManualClock()
  count = 0

  find(limits = commandLimits) {
    return createFindDeletion({ reader: this, topic: 'deletions', clock: this.clock, limits })
  }

  async readToEnd(
    _topic: string,
    onRecord: (record: LogRecord) => void | Promise<void>,
    portion: Portion = {},
  ): Promise<number> {
    this.portions.push(portion)
    const reading = Promise.withResolvers<void>()
    this.readings.push(reading)
    const seen = [...this.records]
    await reading.promise
    for (const [key, value] of seen) {
      if (portion.mustStop?.()) break
      this.count++
      const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text))
      await onRecord({ key: bytes(key), value: bytes(value) } as LogRecord)
    }
    return seen.length
  }
}
async function found(id: string, records: Topic['records'], limits = commandLimits) {
  const topic = new Topic()
  topic.records = records
  const asked = topic.find(limits)(id)
  await turns()
  topic.readings[0]?.resolve()
  return { topic, known: await asked }
}

describe('the status of one deletion, by the records of its topic', () => {
  it.each<[string, Topic['records'], Record<string, unknown> | undefined]>([
    ['no record', [record('other'), outcome('other', 'ada', 'delivered')], undefined],
    ['only outcomes: the deletion was never completely written', [outcome('d-1', 'ada', 'delivered')], undefined],
    ['a deletion in progress', [record('d-1'), outcome('d-1', 'ada', 'delivered')], { delivered: 1, waiting: 1 }],
    [
      'outcomes before the deletion, in another partition',
      [outcome('d-1', 'ada', 'delivered'), record('d-1')],
      { delivered: 1, waiting: 1 },
    ],
    [
      'foreign records, which are ignored',
      [[null, 'x'], ['["d-1"]', null], ['nonsense', '{'], record('d-1')],
      { delivered: 0, waiting: 2 },
    ],
  ])('%s', async (_name, records, counts) => {
    const { known } = await found('d-1', records)
    const destination = known.kind === 'found' ? known.status.sources[0]?.destinations[0] : undefined
    if (counts === undefined) expect(known).toEqual({ kind: 'none' })
    else expect(destination).toMatchObject(counts)
  })
})

describe('a deletion with several records', () => {
  const partsOf = (createdAt: number): Topic['records'] => {
    const destinations = ['crm', ...Array.from({ length: 5_000 }, (_, number) => `d-${number}`)]
    const deletion = { id: 'd-1', createdAt: epochMs(createdAt), users: 1, isSuppressed: false }
    const parts = encodeDeletionParts({ ...deletion, sources: [{ id: 'web', destinations }] })
    return parts.map(({ key, value }) => [key, value])
  }
  const [first, second] = partsOf(1_000)
  const [failedFirst, failedSecond] = partsOf(999)

  it.each([
    ['in their order', [first!, second!]],
    ['in another order, because the deletion was written again after a crash', [second!, first!]],
    ['after the parts of an attempt that failed', [failedFirst!, failedSecond!, first!, second!]],
  ])('is found when all of them are read: %s', async (_, records) => {
    const { known } = await found('d-1', [...records, outcome('d-1', 'ada', 'delivered')])
    const destinations = known.kind === 'found' ? known.status.sources[0]?.destinations : undefined
    expect(destinations).toHaveLength(5_001)
    expect(destinations?.[0]).toMatchObject({ id: 'crm', delivered: 1, waiting: 0 })
  })

  it('is not found while one of them is missing', async () => {
    expect((await found('d-1', [first!])).known).toEqual({ kind: 'none' })
    expect((await found('d-1', [failedFirst!, second!])).known).toEqual({ kind: 'none' })
  })
})

describe('the search for a deletion', () => {
  const id = newDeletionId(epochMs(1_000_000), 'any')

  it('reads one partition, from the time in the id', async () => {
    const { topic } = await found(id, [record(id)])
    expect(topic.portions).toMatchObject([{ key: Buffer.from(deletionKey(id)), since: 400_000 }])
  })

  it('reads all partitions for an id of an earlier version', async () => {
    const { topic } = await found('d-1', [record('d-1')])
    expect(topic.portions).toEqual([{ mustStop: expect.any(Function) }])
  })

  it('stops when all destinations have reported a delivery', async () => {
    const all = [outcome(id, 'ada', 'delivered'), outcome(id, 'bob', 'delivered')]
    const { topic, known } = await found(id, [record(id), ...all, ...Array(10).fill(record('other'))])
    expect(known).toMatchObject({ status: { status: 'finished' } })
    expect(topic.count).toBe(3)
  })

  it('continues while one delivery has failed: a replay may deliver it', async () => {
    const all = [outcome(id, 'ada', 'delivered'), outcome(id, 'bob', 'undelivered')]
    const { known } = await found(id, [record(id), ...all, outcome(id, 'bob', 'delivered')])
    expect(known).toMatchObject({ status: { status: 'finished' } })
  })

  it('stops after the maximum number of records, and reports a partial status', async () => {
    const limits = { ...commandLimits, records: 100 }
    const others = Array(limits.records).fill(record('other'))
    const { topic, known } = await found(id, [record(id), ...others, outcome(id, 'ada', 'delivered')], limits)
    expect(topic.count).toBe(limits.records)
    expect(known).toMatchObject({ kind: 'found', status: { partial: true, status: 'running' } })
    expect((await found(id, [...others, record(id)], limits)).known).toEqual({ kind: 'not_reached' })
    expect((await found(id, others, limits)).known).toEqual({ kind: 'none' })
  })

  it('reads at most 300,000 records, for a command and for the API', () => {
    expect([commandLimits.records, requestLimits.records]).toEqual([300_000, 300_000])
  })

  it('for the API ends after its time with what it has read', async () => {
    const topic = new Topic()
    const held = Promise.withResolvers<number>()
    topic.readToEnd = async (_topic, onRecord) => {
      for (const [key, value] of [record(id), outcome(id, 'ada', 'delivered')])
        await onRecord({ key: Buffer.from(key), value: Buffer.from(value) } as LogRecord)
      return held.promise
    }
    const asked = topic.find(requestLimits)(id)
    await topic.clock.advance(requestLimits.time, turns)
    expect(await asked).toMatchObject({ kind: 'found', status: { partial: true, status: 'running' } })
  })

  it('stops after the maximum time', async () => {
    const topic = new Topic()
    topic.records.push(record(id), outcome(id, 'ada', 'delivered'))
    const asked = topic.find()(id)
    await turns()
    await topic.clock.advance(commandLimits.time)
    topic.readings[0]?.resolve()
    expect(await asked).toEqual({ kind: 'not_reached' })
  })
})

describe('concurrent requests', () => {
  it('for the same id share a read, but only a read that has not started yet', async () => {
    const topic = new Topic()
    topic.records.push(record('d-1'))
    const find = topic.find()
    const first = find('d-1')
    await turns()
    topic.records.push(record('d-2'))
    const [second, third, fourth] = [find('d-2'), find('d-1'), find('d-2')]
    await turns()
    expect(topic.readings).toHaveLength(1)
    topic.readings[0]?.resolve()
    expect(await first).toMatchObject({ record: { id: 'd-1' } })
    await turns()
    topic.readings[1]?.resolve()
    expect(await second).toMatchObject({ record: { id: 'd-2' } })
    expect(await fourth).toBe(await second)
    await turns()
    topic.readings[2]?.resolve()
    expect(await third).toMatchObject({ record: { id: 'd-1' } })
    expect(topic.readings).toHaveLength(3)
  })

  it('of the API all end in time while Kafka does not respond, and only the first one reads', async () => {
    const topic = new Topic()
    const find = topic.find(requestLimits)
    const asked = Array.from({ length: 10 }, (_, index) => find(`d-${index}`))
    await topic.clock.advance(requestLimits.time, turns)
    for (const each of asked) expect(await each).toEqual({ kind: 'not_reached' })
    expect(topic.readings).toHaveLength(1)
    expect(topic.clock.timers).toBe(0)
  })

  it('of the API are not delayed by a read that has not ended in time', async () => {
    const topic = new Topic()
    topic.records.push(record('d-1'))
    const find = topic.find(requestLimits)
    const first = find('d-1')
    await topic.clock.advance(requestLimits.time, turns)
    expect(await first).toEqual({ kind: 'not_reached' })
    const second = find('d-1')
    await turns()
    topic.readings[1]?.resolve()
    expect(await second).toMatchObject({ kind: 'found' })
  })

  it('all fail with the read that they share; the next read is made nevertheless', async () => {
    const topic = new Topic()
    topic.records.push(record('d-1'))
    const find = topic.find()
    const first = find('d-1')
    await turns()
    const second = find('d-1')
    topic.readings[0]?.reject(new Error('no broker'))
    await expect(first).rejects.toThrow('no broker')
    await turns()
    topic.readings[1]?.resolve()
    expect(await second).toMatchObject({ record: { id: 'd-1' } })
  })
})
