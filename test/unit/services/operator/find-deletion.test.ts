import { describe, expect, it } from '@jest/globals'
import {
  type DeletionOutcome,
  type DeletionRecord,
  deletionKey,
  deletionOutcomeKey,
  encodeDeletion,
  encodeDeletionOutcome,
} from '../../../../src/core/deletion/status.ts'
import type { LogRecord, TopicReader } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/units.ts'
import { createFindDeletion } from '../../../../src/services/operator/find-deletion.ts'

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

/** A topic that is read when the test says so. */
class Topic implements TopicReader {
  readonly records: (readonly [key: string | null, value: string | null])[] = []
  readonly readings: PromiseWithResolvers<void>[] = []

  async readToEnd(_topic: string, onRecord: (record: LogRecord) => void | Promise<void>): Promise<number> {
    const reading = Promise.withResolvers<void>()
    this.readings.push(reading)
    const seen = [...this.records]
    await reading.promise
    for (const [key, value] of seen) {
      const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text))
      await onRecord({ key: bytes(key), value: bytes(value) } as LogRecord)
    }
    return seen.length
  }
}
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

async function found(id: string, ...records: Topic['records']) {
  const topic = new Topic()
  topic.records.push(...records)
  const asked = createFindDeletion(topic, 'deletions')(id)
  await settled()
  topic.readings[0]?.resolve()
  return asked
}

describe('what the topic tells of one deletion', () => {
  it.each<[string, Topic['records'], Record<string, unknown> | undefined]>([
    ['nothing', [record('other'), outcome('other', 'ada', 'delivered')], undefined],
    ['only outcomes: it was never complete', [outcome('d-1', 'ada', 'delivered')], undefined],
    ['it is waited for', [record('d-1'), outcome('d-1', 'ada', 'delivered')], { delivered: 1, waiting: 1 }],
    [
      'outcomes may stand before it, in another partition',
      [outcome('d-1', 'ada', 'delivered'), record('d-1')],
      { delivered: 1, waiting: 1 },
    ],
    [
      'a later outcome replaces an earlier one',
      [record('d-1'), outcome('d-1', 'ada', 'undelivered'), outcome('d-1', 'ada', 'delivered')],
      { delivered: 1, undelivered: 0, waiting: 1 },
    ],
    [
      "others' outcomes are not its own",
      [record('d-1'), outcome('d-2', 'ada', 'delivered')],
      { delivered: 0, waiting: 2 },
    ],
    [
      'foreign records are passed over',
      [[null, 'x'], ['["d-1"]', null], ['nonsense', '{'], record('d-1')],
      { delivered: 0, waiting: 2 },
    ],
  ])('%s', async (_name, records, counts) => {
    const known = await found('d-1', ...records)
    const told = known?.status.sources[0]?.destinations[0]
    if (counts === undefined) expect(known).toBeUndefined()
    else expect(told).toMatchObject(counts)
  })
})

describe('several who ask', () => {
  it('share a reading, but none that began before they asked', async () => {
    const topic = new Topic()
    topic.records.push(record('d-1'))
    const find = createFindDeletion(topic, 'deletions')
    const first = find('d-1')
    await settled()
    topic.records.push(record('d-2'))
    const [second, third] = [find('d-2'), find('d-1')]
    await settled()
    expect(topic.readings).toHaveLength(1)
    topic.readings[0]?.resolve()
    expect((await first)?.record.id).toBe('d-1')
    await settled()
    expect(topic.readings).toHaveLength(2)
    topic.readings[1]?.resolve()
    expect((await second)?.record.id).toBe('d-2')
    expect((await third)?.record.id).toBe('d-1')
  })

  it('a reading that fails is told to those who wait for it; the next one is made all the same', async () => {
    const topic = new Topic()
    topic.records.push(record('d-1'))
    const find = createFindDeletion(topic, 'deletions')
    const first = find('d-1')
    await settled()
    const second = find('d-1')
    topic.readings[0]?.reject(new Error('no broker'))
    await expect(first).rejects.toThrow('no broker')
    await settled()
    topic.readings[1]?.resolve()
    expect((await second)?.record.id).toBe('d-1')
  })
})
