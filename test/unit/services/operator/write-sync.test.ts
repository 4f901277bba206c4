import { beforeEach, describe, expect, it } from '@jest/globals'
import type { AudienceInput } from '../../../../src/core/audience/input.ts'
import { syncId } from '../../../../src/core/audience/sync.ts'
import {
  type SyncOptions,
  type SyncReport,
  toEveryPartition,
  writeSync,
} from '../../../../src/services/operator/write-sync.ts'
import { ScriptedProducer } from '../../../support/kafka/scripted-producer.ts'
import { OperatorHarness, topics } from '../../../support/operator/harness.ts'

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
  it('is an observation a member, in the partition of the user, and then its end in every partition', async () => {
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

  it('may be partial, and then of nobody', async () => {
    expect(await write(lines(), { mode: 'partial' })).toMatchObject({ received: 0, end: { kind: 'ended' } })
    expect(harness.inputs()).toEqual(Array(2).fill({ ...ended, mode: 'partial' }))
  })

  it('tells how far it is', async () => {
    const told: number[] = []
    await write(lines(['a', 'b'], [], ['c']), { onProgress: received => told.push(received) })
    expect(told).toEqual([2, 2, 3])
  })

  it('of a trait has values', async () => {
    await write(lines(['userId,value', 'ada,12', 'bob,gold']), { audience: { name: 'Score', kind: 'trait' } })
    expect(harness.inputsTold().toSorted().slice(0, 2)).toEqual(['observed ada 12', 'observed bob "gold"'])
  })
})

describe('a sync that is cut short is never ended', () => {
  const told = (): readonly string[] => harness.inputsTold().filter(input => input === 'sync_ended')

  it('by a wrong line: those before it are taken over', async () => {
    const report = await write(lines(['ada', '{"value":true}', 'bob']))
    expect(report).toMatchObject({ received: 1, end: { kind: 'refused', message: expect.stringMatching(/^line 2: /) } })
    expect(told()).toEqual([])
  })

  it('by the end of the upload', async () => {
    await expect(write(lines(['ada'], new Error('the sender has gone')))).rejects.toThrow('the sender has gone')
    expect(told()).toEqual([])
  })

  it('by nobody being in it, unless that is meant', async () => {
    expect(await write(lines(['', ' ']))).toMatchObject({ end: { kind: 'empty' } })
    expect(told()).toEqual([])
    expect(await write(lines(), { allowEmpty: true })).toMatchObject({ end: { kind: 'ended' } })
    expect(told()).toHaveLength(2)
  })

  it.each(['between two lines', 'after the last one', 'where reading waits'])('by a signal, %s', async where => {
    const stopping = new AbortController()
    async function* list() {
      yield ['ada']
      if (where === 'where reading waits') {
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
    expect(told()).toEqual([])
  })

  it('by Kafka, which does not take a member', async () => {
    harness.log.unwritable.add(topics.audienceInput)
    await expect(write(lines(['ada'], ['bob']))).rejects.toThrow('not writable')
    expect(harness.inputs()).toEqual([])
  })
})

describe('how much is under way', () => {
  /** A list that counts how much of it was asked for. */
  function counted(length: number, lineOf: (index: number) => string) {
    const list = {
      read: 0,
      async *lines() {
        for (; list.read < length; list.read++) yield [lineOf(list.read)]
      },
    }
    return list
  }
  /** Until nothing more is handed over. */
  async function settled(producer: ScriptedProducer): Promise<void> {
    for (let before = -1; before !== producer.waiting.length; ) {
      before = producer.waiting.length
      for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
    }
  }

  it.each([
    ['8192 records', 20_000, (index: number) => `user-${index}`, 8_192],
    ['8 MiB', 500, (index: number) => JSON.stringify(`${index}-${'x'.repeat(32_000)}`), 8_388_608 / 64_400],
  ])('is bounded by %s: no more is read until Kafka answers', async (_name, length, lineOf, most) => {
    const producer = new ScriptedProducer()
    const list = counted(length, lineOf)
    const writing = writeSync({ ...depsOf(), producer }, list.lines(), options)
    await settled(producer)
    expect(producer.waiting.length).toBeGreaterThan(most * 0.9)
    expect(producer.waiting.length).toBeLessThan(most * 1.1)
    expect(list.read).toBeLessThan(most * 1.1)
    let isDone = false
    void writing.then(() => (isDone = true))
    while (!isDone) {
      producer.answer()
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(await writing).toMatchObject({ received: length, end: { kind: 'ended' } })
  })

  it('the end waits for every observation', async () => {
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

  it('what concerns all of an audience is done when every partition has it', async () => {
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
