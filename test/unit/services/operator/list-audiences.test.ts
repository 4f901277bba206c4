import { expect, it } from '@jest/globals'
import type { MembershipRecord } from '../../../../src/core/audience/membership-and-watermark-records.ts'
import type { ListAudiences } from '../../../../src/core/operator/audience-view.ts'
import type { Portion, TopicReader, ValueCodec } from '../../../../src/core/ports.ts'
import { createListAudiences } from '../../../../src/services/operator/list-audiences.ts'
import { ManualClock, turns } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const directory = new Map([
  [
    'Shoppers',
    {
      ...{ name: 'Shoppers', kind: 'audience', property: 'shoppers', absent: 'false' },
      ...{ destinations: new Set(['crm']), disabled: new Set<string>(), configured: new Set(['crm']) },
    },
  ],
]) as unknown as ReturnType<Parameters<typeof createListAudiences>[0]['directory']>

/** A list whose reads of the memberships topic end when the test says so. */
function listing(hasTopic = true) {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const reads: (PromiseWithResolvers<number> & Portion)[] = []
  const reader: TopicReader = {
    readToEnd(_topic, _onRecord, portion) {
      const read = Promise.withResolvers<number>()
      reads.push({ ...read, ...portion })
      return read.promise
    },
  }
  const codec = {} as ValueCodec<MembershipRecord>
  const list = createListAudiences({
    source: hasTopic ? { reader, topic: 'memberships', codec, clock } : undefined,
    directory: () => directory,
    ...{ clock, logger },
  })
  return { clock, logger, reads, list }
}

const crm = (more: object) => ({ id: 'crm', connected: true, disabled: false, ...more })
const noMembers = { members: 0, acknowledged: 0, inFlight: 0, unknown: 0, different: 0 }
const destinationsOf = async (answer: ReturnType<ListAudiences>) =>
  (await answer).audiences.map(audience => (audience as { destinations: unknown }).destinations)

it('has figures when the reading ends in time, and shares it for 10 s', async () => {
  const { clock, reads, list } = listing()
  const first = list()
  reads[0]?.resolve(0)
  expect(await destinationsOf(first)).toEqual([[crm(noMembers)]])
  expect(await first).not.toHaveProperty('partial')
  await clock.advance(9_999, turns)
  await list()
  expect(reads).toHaveLength(1)
  await clock.advance(1, turns)
  const next = list()
  reads[1]?.resolve(0)
  expect(await next).toMatchObject({ readAt: new Date(clock.now()).toISOString() })
})

it('has no figures, and is partial, while the first reading takes longer than 1.5 s', async () => {
  const { clock, reads, list } = listing()
  const answer = list()
  await clock.advance(1_500, turns)
  expect(await answer).toMatchObject({ partial: true, audiences: [{ name: 'Shoppers', configured: true }] })
  expect(await destinationsOf(answer)).toEqual([[crm({})]])
  const second = list()
  expect(reads).toHaveLength(1)
  reads[0]?.resolve(0)
  expect(await destinationsOf(second)).toEqual([[crm(noMembers)]])
})

it('pauses four times as long as a reading took', async () => {
  const { clock, reads, list } = listing()
  const answer = list()
  await clock.advance(20_000, turns)
  reads[0]?.resolve(0)
  await answer
  await turns()
  await clock.advance(79_000, turns)
  await list()
  expect(reads).toHaveLength(1)
  await clock.advance(1_000, turns)
  const next = list()
  reads[1]?.resolve(0)
  await next
  expect(reads).toHaveLength(2)
})

it('keeps the figures of the last reading when the next one fails, and logs it', async () => {
  const { clock, logger, reads, list } = listing()
  const first = list()
  reads[0]?.resolve(0)
  const { readAt } = await first
  await clock.advance(10_000, turns)
  const second = list()
  reads[1]?.reject(new Error('no broker'))
  expect((await second).readAt).toBe(readAt)
  expect(logger.lines.map(({ level }) => level)).toEqual(['warn'])
})

it('cancels a reading that did not end within 2 minutes, and gives the next one twice the time', async () => {
  const { clock, logger, reads, list } = listing()
  const first = list()
  await clock.advance(119_999, turns)
  expect(reads[0]?.mustStop?.()).toBe(false)
  await clock.advance(1, turns)
  expect(reads[0]?.mustStop?.()).toBe(true)
  reads[0]?.resolve(0)
  expect(await first).toMatchObject({ partial: true })
  expect(logger.lines.map(({ level }) => level)).toEqual(['warn'])
  await clock.advance(480_000, turns)
  const next = list()
  await clock.advance(239_999, turns)
  expect(await next).toMatchObject({ partial: true })
  expect(reads).toHaveLength(2)
  expect(reads[1]?.mustStop?.()).toBe(false)
  reads[1]?.resolve(0)
  expect(await destinationsOf(list())).toEqual([[crm(noMembers)]])
})

it('gives a reading at most an hour', async () => {
  const { clock, reads, list } = listing()
  for (const time of [120, 240, 480, 960, 1_920, 3_600, 3_600]) {
    const answer = list()
    await clock.advance(time * 1_000, turns)
    expect(reads.at(-1)?.mustStop?.()).toBe(true)
    await answer
    await clock.advance(4_000 * time, turns)
  }
  expect(reads).toHaveLength(7)
})

it('has no members when the memberships topic does not exist', async () => {
  const { reads, list } = listing(false)
  expect(await destinationsOf(list())).toEqual([[crm(noMembers)]])
  expect(await list()).not.toHaveProperty('partial')
  expect(reads).toHaveLength(0)
})
