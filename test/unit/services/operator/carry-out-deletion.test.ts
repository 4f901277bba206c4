import { beforeEach, describe, expect, it } from '@jest/globals'
import { type DeletionRequest, deletionOf } from '../../../../src/core/deletion/deletion-request.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import type { LogProducer } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import type { SuppressionList } from '../../../../src/services/deletion/suppression-list.ts'
import { writeDeletion } from '../../../../src/services/operator/carry-out-deletion.ts'
import { liftSuppression } from '../../../../src/services/operator/lift-suppression.ts'
import { destinationOf, sourceOf } from '../../../support/builders.ts'
import { OperatorHarness, topics } from '../../../support/operator/deletion-and-audience-command-harness.ts'

const routing = createRouting({
  sources: [sourceOf('web'), sourceOf('app'), sourceOf('idle')],
  destinations: [destinationOf(), destinationOf({ id: 'shop', sources: ['web', 'app'] })],
})
const users = ['ada', 'bob']
const request: DeletionRequest = { userIds: users, sources: undefined, suppress: false }

let harness: OperatorHarness
beforeEach(() => {
  harness = new OperatorHarness()
})

/**
 * A producer that records the topics of all appends. It passes on only `dieAfter` acknowledgements,
 * as if the process had died.
 */
function recorded(producer: LogProducer, dieAfter = Number.POSITIVE_INFINITY) {
  const handed: string[] = []
  let answered = 0
  return {
    handed,
    append: (topic, record, onAck) => {
      handed.push(topic)
      producer.append(topic, record, error => {
        answered++
        if (answered <= dieAfter) onAck(error)
      })
    },
    flush: () => producer.flush(),
    stop: () => producer.stop(),
  } satisfies LogProducer & { handed: string[] }
}

async function begin(given: DeletionRequest, at = harness.clock.now(), dieAfter?: number) {
  const access = harness.access()
  const producer = recorded(access.producer, dieAfter)
  const [suppressions, events, inputs] = await Promise.all([access.suppressions(), access.events(), access.inputs()])
  // `producer` does not record the writes of the suppression list, which uses the producer of
  // `access`.
  const encodings = { encodeEvent: events.encode, encodeInput: inputs.encode }
  const deps = { producer, topics, suppressions, brokersNow: access.brokerTime, ...encodings }
  const record = deletionOf(given, 'd-1', at, routing)
  return { producer, work: writeDeletion(deps, given, record) }
}

const carryOut = async (given: DeletionRequest): Promise<void> => harness.during((await begin(given)).work)

describe('a deletion', () => {
  it('writes suppressions, audience inputs, a status record, and a delete for each source with a destination', async () => {
    await carryOut(request)
    expect(harness.marksOf('ada')).toEqual([{ source: undefined, deletedAt: harness.clock.now(), isSuppressed: false }])
    expect(harness.inputsTold().toSorted()).toEqual(['forgotten ada', 'forgotten bob'])
    const [kept] = harness.log.records(topics.deletions)
    expect(String(kept?.key)).toBe('["d-1"]')
    expect(JSON.parse(String(kept?.value))).toMatchObject({
      users: 2,
      sources: [
        { id: 'web', destinations: ['crm', 'shop'] },
        { id: 'app', destinations: ['shop'] },
      ],
    })
    expect(
      harness
        .events()
        .map(({ sourceId, message }) => `${message.type} ${message.userId} ${sourceId}`)
        .toSorted(),
    ).toEqual(['delete ada app', 'delete ada web', 'delete bob app', 'delete bob web'])
    for (const record of harness.log.records(topics.events))
      expect(String(record.key)).toBe(JSON.parse(String(record.value)).message.userId)
  })

  it('for many destinations writes several status records into one partition, and several deletes', async () => {
    const { producer, events, inputs, suppressions, brokerTime: brokersNow } = harness.access()
    const deps = { producer, topics, suppressions: await suppressions(), brokersNow }
    const encodings = { encodeEvent: (await events()).encode, encodeInput: (await inputs()).encode }
    const destinations = Array.from({ length: 100_000 }, (_, number) => `destination-${number}`)
    const record = {
      ...deletionOf(request, 'd-1', harness.clock.now(), routing),
      sources: [{ id: 'web', destinations }],
    }
    await harness.during(writeDeletion({ ...deps, ...encodings }, request, record))
    const status = harness.log.records(topics.deletions)
    expect(status).toHaveLength(21)
    expect(new Set(status.map(({ partition }) => partition)).size).toBe(1)
    expect(harness.events()).toHaveLength(200)
    const records = [...status, ...harness.log.records(topics.events)]
    expect(Math.max(...records.map(({ value }) => value?.length ?? 0))).toBeLessThan(500_000)
  })

  it('keeps an earlier suppression', async () => {
    await carryOut({ ...request, userIds: ['ada'], suppress: true })
    await carryOut({ ...request, userIds: ['ada'] })
    expect(harness.marksOf('ada')).toMatchObject([{ isSuppressed: true }])
  })

  it('changes the suppressions of at most 500 users concurrently', async () => {
    const { producer, events, inputs, brokerTime } = harness.access()
    const [{ encode: encodeEvent }, { encode: encodeInput }] = await Promise.all([events(), inputs()])
    let inProgress = 0
    const seen: number[] = []
    const times = new Set<unknown>()
    const update: SuppressionList['update'] = async (_userId, change) => {
      seen.push(++inProgress)
      times.add(change(undefined)?.[0]?.deletedAt)
      await new Promise(resolve => setImmediate(resolve))
      inProgress--
    }
    const at = harness.clock.now()
    let asked = 0
    const brokersNow = async () => epochMs((await brokerTime()) + 1_000 * asked++)
    const deps = { producer, topics, suppressions: { update }, brokersNow, encodeEvent, encodeInput }
    const many = { ...request, userIds: Array.from({ length: 1_200 }, (_, number) => `u-${number}`) }
    await harness.during(writeDeletion(deps, many, deletionOf(many, 'd-1', at, routing)))
    expect(seen).toHaveLength(1_200)
    expect(Math.max(...seen)).toBe(500)
    // The suppressions are written for 500 users at a time, each group with its own time.
    expect([...times]).toEqual([at, at + 1_000, at + 2_000])
  })

  it.each([
    ['the time at which they are written, which may be later than the request', 60_000],
    ["at least the time of the request, which the delete messages have, after a broker's clock was set back", -60_000],
  ])('writes suppressions with %s', async (_name, ahead) => {
    const at = harness.clock.now()
    harness.brokersAhead = ahead
    await harness.during((await begin(request, at)).work)
    expect(harness.marksOf('ada')).toMatchObject([{ deletedAt: Math.max(at, at + ahead) }])
    expect(harness.events().map(({ receivedAt }) => receivedAt)).toEqual([at, at, at, at])
  })

  it('writes no delete for a source without an enabled destination', async () => {
    await carryOut({ ...request, sources: ['idle'] })
    expect(harness.events()).toEqual([])
    expect(harness.marksOf('ada')?.map(({ source }) => source)).toEqual(['idle', 'hookline.audiences'])
  })
})

describe('the steps of a deletion', () => {
  it('wait until the step before is acknowledged', async () => {
    const { producer, work } = await begin(request)
    let isDone = false
    void work.then(() => (isDone = true))
    const steps: string[] = []
    while (!isDone) {
      await new Promise(resolve => setImmediate(resolve))
      const waiting = new Set(producer.handed.splice(0))
      if (waiting.size > 0) steps.push([...waiting].join())
      harness.log.poll()
    }
    expect(steps).toEqual([topics.audienceInput, topics.deletions, topics.events])
    expect(harness.log.records(topics.suppressions)).toHaveLength(2)
  })

  it('stop when Kafka does not store the suppressions', async () => {
    harness.log.unwritable.add(topics.suppressions)
    await expect(carryOut(request)).rejects.toThrow('not writable')
    for (const topic of [topics.audienceInput, topics.deletions, topics.events])
      expect(harness.log.records(topic)).toEqual([])
  })

  it.each([topics.audienceInput, topics.deletions])('write no delete when %s is not writable', async topic => {
    harness.log.unwritable.add(topic)
    await expect(carryOut(request)).rejects.toThrow('not writable')
    expect(harness.events()).toEqual([])
  })
})

describe('a deletion that is repeated after a crash', () => {
  // The writes: two audience inputs, a status record, four delete messages. 4 is missing, because
  // crashes after 4 and 5 acknowledgements are the same case.
  it.each([0, 1, 2, 3, 5, 6])('writes the same under the same ids after %i acknowledgements', async writes => {
    const { work } = await begin(request, undefined, writes)
    void work
    for (let turn = 0; turn < 50; turn++) {
      await new Promise(resolve => setImmediate(resolve))
      harness.log.poll()
    }
    const first = new Set(harness.events().map(({ message }) => message.messageId))
    const at = harness.clock.now()
    await harness.clock.advance(60_000)
    await harness.during((await begin(request, at)).work)
    const ids = new Set(harness.events().map(({ message }) => message.messageId))
    expect(ids.size).toBe(4)
    expect([...first].filter(id => !ids.has(id))).toEqual([])
    expect(new Set(harness.events().map(event => JSON.stringify(event))).size).toBe(4)
    expect(new Set(harness.log.records(topics.deletions).map(({ value }) => String(value))).size).toBe(1)
    expect(harness.marksOf('bob')).toEqual([{ source: undefined, deletedAt: harness.clock.now(), isSuppressed: false }])
  })
})

describe('lifting a suppression', () => {
  it('keeps the deletion, and returns the suppressed users', async () => {
    await carryOut({ ...request, userIds: ['ada'], suppress: true })
    await carryOut({ ...request, userIds: ['bob'] })
    const { clock } = harness
    const suppressions = await harness.access().suppressions()
    expect(await harness.during(liftSuppression({ suppressions }, ['ada', 'bob', 'eve']))).toEqual(['ada'])
    expect(harness.marksOf('ada')).toEqual([{ source: undefined, deletedAt: clock.now(), isSuppressed: false }])
    expect(harness.marksOf('eve')).toBeUndefined()
  })

  it('keeps nothing once the deletion has expired', async () => {
    await carryOut({ ...request, userIds: ['ada'], suppress: true })
    await harness.clock.advance(54 * 24 * 3_600_000)
    const suppressions = await harness.access().suppressions()
    await harness.during(liftSuppression({ suppressions }, ['ada']))
    await harness.during(suppressions.compact(10))
    expect(harness.log.records(topics.suppressions).at(-1)?.value).toBeNull()
  })
})
