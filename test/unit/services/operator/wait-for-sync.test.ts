import { beforeEach, describe, expect, it } from '@jest/globals'
import { KafkaError } from '../../../../src/adapters/kafka/kafkajs/errors.ts'
import type { SyncMode } from '../../../../src/core/audience/audience-watermark.ts'
import type { Membership } from '../../../../src/core/audience/membership.ts'
import { syncId } from '../../../../src/core/audience/sync-id.ts'
import { changeExpiry } from '../../../../src/core/audience/unconfirmed-changes-bit-set.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { TopicReader } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { type WaitProgress, type WaitReport, waitForSync } from '../../../../src/services/operator/wait-for-sync.ts'
import { turns } from '../../../support/manual-clock.ts'
import { OperatorHarness, topics } from '../../../support/operator/deletion-and-audience-command-harness.ts'

const now = syncId(2_000)
const text = (value: string): JsonText => value as JsonText

let harness: OperatorHarness
let reported: WaitProgress[]
/** Called before each read of the memberships topic. */
let beforeRead: () => void
beforeEach(() => {
  harness = new OperatorHarness()
  reported = []
  beforeRead = () => {}
})

const keep = (userId: string, state: Partial<Membership> | undefined, destination = 'crm'): void =>
  harness.keep({ audience: 'Shoppers', userId, destination }, state)
const inFlight = (since = harness.clock.now()) => ({ value: text('true'), since, isOvertaken: false })

async function wait(mode: SyncMode = 'full', signal = new AbortController().signal) {
  const { clock } = harness
  const access = harness.access()
  const box: { report: WaitReport | undefined; error: unknown } = { report: undefined, error: undefined }
  const reader: TopicReader = {
    async readToEnd(...asked) {
      beforeRead()
      return access.reader.readToEnd(...asked)
    },
  }
  const work = waitForSync(
    {
      ...{ clock, reader, positions: access.positions, codec: await access.memberships() },
      topic: topics.memberships,
      inputTopic: topics.audienceInput,
      audiencesGroup: topics.audiencesGroup,
    },
    {
      audience: { name: 'Shoppers', destinations: new Set(['crm', 'erp']) },
      ...{ syncId: now, mode, signal, onProgress: progress => reported.push(progress) },
    },
  )
  work.then(
    report => (box.report = report),
    error => (box.error = error),
  )
  await settle()
  return box
}
const settle = () => turns(20)
const keepEnd = (): void => harness.keepWatermark('Shoppers', now, now)

describe('waitForSync', () => {
  beforeEach(keepEnd)

  it('waits until the audiences service has handled every input', async () => {
    harness.log.write(topics.audienceInput, Buffer.from('{}'), 'ada')
    let taken: readonly number[] = [-1, -1]
    harness.committed = () => taken
    const box = await wait()
    expect(reported).toEqual([{ kind: 'handling_inputs', left: 1 }])
    await harness.clock.advance(10_000, settle)
    expect(box.report).toBeUndefined()
    taken = [1, 1]
    await harness.clock.advance(1_000, settle)
    expect(box.report).toEqual({ end: 'done', delivered: 0, waiting: 0, undelivered: 0 })
  })

  it('then waits until no change is in progress', async () => {
    keep('ada', { syncId: now, inFlight: inFlight() })
    keep('bob', { syncId: now, inFlight: inFlight(), acknowledged: text('false') })
    keep('eve', { syncId: now })
    const box = await wait()
    expect(reported.at(-1)).toEqual({ kind: 'delivering', delivered: 1, waiting: 2, undelivered: 0 })
    keep('ada', { syncId: now })
    await harness.clock.advance(1_000, settle)
    expect(box.report).toBeUndefined()
    keep('bob', { syncId: now, acknowledged: undefined })
    await harness.clock.advance(1_000, settle)
    expect(box.report).toEqual({ end: 'done', delivered: 2, waiting: 0, undelivered: 1 })
    expect(harness.clock.timers).toBe(0)
  })

  it('stops waiting for a change without a report when that expires', async () => {
    keep('ada', { syncId: now, inFlight: inFlight(epochMs(harness.clock.now() - changeExpiry)) })
    const box = await wait()
    expect(box.report).toBeUndefined()
    await harness.clock.advance(1_000, settle)
    expect(box.report).toEqual({ end: 'done', delivered: 0, waiting: 0, undelivered: 1 })
  })

  it.each<[SyncMode, string, number, Record<string, number>]>([
    ['full', 'that it did not name', 1_000, { waiting: 1 }],
    ['partial', 'that it did not name', 1_000, { waiting: 0 }],
    ['full', 'that it named', now, { waiting: 1 }],
    ['partial', 'that it named', now, { waiting: 1 }],
    ['full', 'of a newer sync', 3_000, { waiting: 0 }],
    ['partial', 'of a newer sync', 3_000, { waiting: 0 }],
  ])('counts, for a %s sync, users %s', async (mode, _name, named, counts) => {
    keep('ada', { syncId: syncId(named), inFlight: inFlight() })
    await wait(mode)
    expect(reported.at(-1)).toMatchObject(counts)
  })

  it.each<[SyncMode, string, number | undefined, number | undefined]>([
    ['full', 'of which no partition has the end', 1_999, 2],
    ['full', 'of an audience without watermarks', undefined, 2],
    ['full', 'after which a newer one has ended', 3_000, undefined],
    ['partial', 'of which no partition has the end', 1_999, undefined],
  ])('counts the partitions that did not apply a %s sync %s', async (mode, _name, closedUpTo, unapplied) => {
    harness = new OperatorHarness()
    if (closedUpTo !== undefined) harness.keepWatermark('Shoppers', syncId(closedUpTo), syncId(closedUpTo))
    keep('ada', { syncId: now })
    const { report } = await wait(mode)
    expect(report).toEqual({ end: 'done', delivered: 1, waiting: 0, undelivered: 0, ...(unapplied && { unapplied }) })
  })

  it('does not count other destinations or other audiences', async () => {
    keep('ada', { syncId: now, inFlight: inFlight() }, 'gone')
    harness.keep({ audience: 'Other', userId: 'ada', destination: 'crm' }, { syncId: now, inFlight: inFlight() })
    expect((await wait()).report).toEqual({ end: 'done', delivered: 0, waiting: 0, undelivered: 0 })
  })
})

describe('after a failure of Kafka', () => {
  beforeEach(keepEnd)

  const error = (retriable: boolean) => new KafkaError('no broker', { code: 'ECONNREFUSED', retriable })

  it('the offsets are read again for a minute', async () => {
    let failures = 5
    harness.committed = () => {
      if (failures-- > 0) throw error(true)
      return [0, 0]
    }
    const box = await wait()
    expect(box.report).toBeUndefined()
    await harness.clock.advance(10_000, settle)
    expect(box.report?.end).toBe('done')
  })

  it('the memberships are read again for a minute', async () => {
    keep('ada', { syncId: now, inFlight: inFlight() })
    const box = await wait()
    keep('ada', { syncId: now })
    let failures = 5
    beforeRead = () => {
      if (failures-- > 0) throw error(true)
    }
    await harness.clock.advance(10_000, settle)
    expect(box.report).toEqual({ end: 'done', delivered: 1, waiting: 0, undelivered: 0 })
  })

  it('the wait fails after a minute', async () => {
    harness.committed = () => {
      throw error(true)
    }
    const box = await wait()
    await harness.clock.advance(59_000, settle)
    expect(box.error).toBeUndefined()
    await harness.clock.advance(1_000, settle)
    expect(box.error).toMatchObject({ message: 'no broker' })
    expect(harness.clock.timers).toBe(0)
  })

  it('the wait fails immediately if the failure is permanent', async () => {
    harness.committed = () => {
      throw error(false)
    }
    expect((await wait()).error).toMatchObject({ message: 'no broker' })
  })
})

describe('an aborted signal ends the wait', () => {
  it.each(['handling_inputs', 'delivering'])('while %s', async kind => {
    keep('ada', { syncId: now, inFlight: inFlight() })
    harness.log.write(topics.audienceInput, Buffer.from('{}'), 'ada')
    if (kind === 'handling_inputs') harness.committed = () => [-1, -1]
    const stopping = new AbortController()
    const box = await wait('full', stopping.signal)
    expect(reported.at(-1)?.kind).toBe(kind)
    stopping.abort()
    await settle()
    expect(box.report?.end).toBe('interrupted')
    expect(harness.clock.timers).toBe(0)
  })
})
