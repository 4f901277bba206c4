import { beforeEach, describe, expect, it } from '@jest/globals'
import type { AudienceInput } from '../../../../src/core/audience/input.ts'
import { syncId } from '../../../../src/core/audience/sync-id.ts'
import {
  type SyncOptions,
  type SyncReport,
  toEveryPartition,
  writeSync,
} from '../../../../src/services/operator/write-sync-members-and-end.ts'
import { ScriptedProducer } from '../../../support/kafka/scripted-producer.ts'
import { OperatorHarness, topics } from '../../../support/operator/deletion-and-audience-command-harness.ts'

let harness: OperatorHarness
beforeEach(() => {
  harness = new OperatorHarness()
})

const encodeInput = (input: AudienceInput): Buffer => Buffer.from(JSON.stringify(input))
const options: SyncOptions = {
  audience: { name: 'Shoppers', kind: 'audience' },
  mode: 'full',
  syncId: syncId(2_000),
  allowEmpty: false,
  signal: new AbortController().signal,
}
const depsOf = () => ({
  producer: harness.log.producer(),
  topic: topics.audienceInput,
  partitions: async () => 2,
  encodeInput,
})
async function* lines(...batches: readonly (readonly string[] | Error)[]): AsyncGenerator<readonly string[]> {
  for (const batch of batches) {
    if (batch instanceof Error) throw batch
    yield batch
  }
}
const write = (from: AsyncIterable<readonly string[]>, given: Partial<SyncOptions> = {}): Promise<SyncReport> =>
  harness.during(writeSync(depsOf(), from, { ...options, ...given }))

const ended = { kind: 'sync_ended', audience: 'Shoppers', syncId: 2_000, mode: 'full' }

describe('a sync', () => {
  it('is one observation per member, in the partition of the user, then its end in every partition', async () => {
    const report = await write(lines(['ada', ''], ['"bob"', '{"userId":7,"value":false}']))
    expect(report).toEqual({ syncId: 2_000, received: 3, end: { kind: 'ended' } })
    expect(harness.inputsTold().toSorted()).toEqual([
      'observed 7 false',
      'observed ada true',
      'observed bob true',
      'sync_ended',
      'sync_ended',
    ])
    const byPartition = Map.groupBy(harness.log.records(topics.audienceInput), ({ partition }) => partition)
    expect([...byPartition.keys()].toSorted()).toEqual([0, 1])
    for (const records of byPartition.values()) {
      expect(JSON.parse(String(records.at(-1)?.value))).toEqual(ended)
      expect(records.at(-1)?.key).toBeNull()
    }
    expect(harness.inputs()).toContainEqual({
      ...{ kind: 'observed', audience: 'Shoppers', userId: 'ada', value: 'true', syncId: 2_000, mode: 'full' },
    })
  })

  it('may be partial and empty', async () => {
    expect(await write(lines(), { mode: 'partial' })).toMatchObject({ received: 0, end: { kind: 'ended' } })
    expect(harness.inputs()).toEqual(Array(2).fill({ ...ended, mode: 'partial' }))
  })

  it('reports its progress', async () => {
    const reported: number[] = []
    await write(lines(['a', 'b'], [], ['c']), { onProgress: received => reported.push(received) })
    expect(reported).toEqual([2, 2, 3])
  })
})

describe('a sync is not ended', () => {
  const syncEnds = (): readonly string[] => harness.inputsTold().filter(input => input === 'sync_ended')

  it.each(['between two lines', 'after the last one', 'while it waits'])('when a signal comes %s', async where => {
    const stopping = new AbortController()
    async function* list() {
      yield ['ada']
      if (where === 'while it waits') {
        stopping.abort()
        throw new Error('aborted')
      }
      if (where === 'between two lines') {
        stopping.abort()
        yield ['bob']
      }
      stopping.abort()
    }
    const report = await write(list(), { signal: stopping.signal })
    expect(report).toMatchObject({ received: 1, end: { kind: 'interrupted' } })
    expect(syncEnds()).toEqual([])
  })
})

describe('the records in progress', () => {
  /** A list that counts the lines that were read. */
  function counted(length: number, lineOf: (index: number) => string) {
    const list = {
      read: 0,
      async *lines() {
        for (; list.read < length; list.read++) yield [lineOf(list.read)]
      },
    }
    return list
  }
  /** Waits until no more records are appended. */
  async function settled(producer: ScriptedProducer): Promise<void> {
    for (let before = -1; before !== producer.waiting.length; ) {
      before = producer.waiting.length
      for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
    }
  }

  it.each([
    ['8192 records', 20_000, (index: number) => `user-${index}`, 8_192],
    ['8 MiB', 500, (index: number) => JSON.stringify(`${index}-${'x'.repeat(32_000)}`), 8_388_608 / 64_400],
  ])('are limited to %s: no more lines are read until Kafka answers', async (_name, length, lineOf, limit) => {
    const producer = new ScriptedProducer()
    const list = counted(length, lineOf)
    const writing = writeSync({ ...depsOf(), producer }, list.lines(), options)
    await settled(producer)
    expect(producer.waiting.length).toBeGreaterThan(limit * 0.9)
    expect(producer.waiting.length).toBeLessThan(limit * 1.1)
    expect(list.read).toBeLessThan(limit * 1.1)
    let isDone = false
    void writing.then(() => (isDone = true))
    while (!isDone) {
      producer.answer()
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(await writing).toMatchObject({ received: length, end: { kind: 'ended' } })
  })

  it('are all acknowledged before the end is written', async () => {
    const producer = new ScriptedProducer()
    const writing = writeSync({ ...depsOf(), producer }, lines(['ada', 'bob']), options)
    await settled(producer)
    expect(producer.waiting).toHaveLength(2)
    producer.answer(undefined, 1)
    await settled(producer)
    expect(producer.waiting).toHaveLength(1)
    producer.answer()
    await settled(producer)
    expect(producer.waiting.map(({ record }) => record.partition).toSorted()).toEqual([0, 1])
    producer.answer()
    expect(await writing).toMatchObject({ end: { kind: 'ended' } })
  })

  it('of an input about an audience are acknowledged by every partition', async () => {
    const producer = new ScriptedProducer()
    const writing = toEveryPartition(
      { ...depsOf(), producer },
      { kind: 'reset', audience: 'A', destination: undefined },
    )
    await settled(producer)
    producer.answer(undefined, 1)
    producer.answer(new Error('one partition has no leader'))
    await expect(writing).rejects.toThrow('no leader')
  })
})
