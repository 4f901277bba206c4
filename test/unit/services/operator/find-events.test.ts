import { expect, it, jest } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { storedMessageId } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import { type MessageQuery, messageQueryOf } from '../../../../src/core/operator/message-timeline-query.ts'
import { ReadBudget } from '../../../../src/core/operator/read-budget.ts'
import { type EpochMs, epochMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { findEvents } from '../../../../src/services/operator/find-events.ts'
import { eventOf, messageOf, start } from '../../../support/builders.ts'
import { JsonEventCodec } from '../../../support/kafka/json-codec.ts'
import { MemorySession } from '../../../support/kafka/memory-log-session.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const topics = topicNames('hookline')
const codec = new JsonEventCodec()

const placesOf = (offsets: readonly number[]) => offsets.map(offset => ({ partition: 0, offset }))

/**
 * An events topic with one event for each message id, oldest first. `find` searches it for an id.
 */
function topicWith(ids: readonly string[]) {
  const session = new MemorySession()
  for (const [index, messageId] of ids.entries()) {
    const value = codec.encode(eventOf({ message: messageOf({ messageId }) }))
    session.append(topics.events, 0, start + index, { key: null, value, headers: {} })
  }
  const routing = createRouting({ sources: [], destinations: [] })
  const deps = { topics, codec, clock: new ManualClock(), routing: () => routing }
  const budget = new ReadBudget({ records: 10_000, time: 1 }, () => 0)
  const at = (offsets: readonly number[], until: EpochMs) =>
    findEvents(session, deps, { id: 'm1', since: start, until, places: placesOf(offsets) }, budget)
  const find = (id: string, offsets: readonly number[] = []) =>
    findEvents(session, deps, { id, since: start, places: placesOf(offsets) }, budget)
  const findTyped = (given: string) => {
    const query = messageQueryOf(given, {}, start) as { query: MessageQuery }
    return findEvents(session, deps, { ...query.query, places: [] }, budget)
  }
  return { session, at, find, findTyped }
}

it('copies one record of a search for a very short id, although all records contain the id', async () => {
  const { find } = topicWith([...Array.from({ length: 200 }, (_, index) => `message-${index}`), 'e'])
  const copy = jest.spyOn(Buffer, 'from')
  const { found } = await find('e')
  const copies = copy.mock.calls.filter(([value]) => Buffer.isBuffer(value))
  copy.mockRestore()
  expect(found).toMatchObject([{ offset: 200 }])
  expect(copies).toHaveLength(1)
})

it('finds an older event when the log no longer has the newest one', async () => {
  const { session, find } = topicWith(['m1', 'm1'])
  const read = session.read.bind(session)
  session.read = async (of, from, to, onRecord) => {
    if (from !== 1) await read(of, from, to, onRecord)
  }
  expect((await find('m1')).found).toMatchObject([{ offset: 0 }])
})

it('leaves out events at known offsets that were received at or after the end of the time span', async () => {
  const { at } = topicWith(['m1', 'm1', 'm1'])
  const { found, isComplete } = await at([0, 1, 2], epochMs(start + 1))
  expect([found.map(({ offset }) => offset), isComplete]).toEqual([[0], true])
})

it('finds an event whose producer wrote an id that Hookline replaces by a hash', async () => {
  const { session, findTyped } = topicWith([])
  const event = { ...eventOf({ message: messageOf({ messageId: 'order 17' }) }), canonical: false }
  session.append(topics.events, 0, start, { key: null, value: codec.encode(event), headers: {} })
  expect((await findTyped('order 17')).found).toMatchObject([{ offset: 0 }])
})

it('finds the event with the hash of a typed id, although many newer events contain this id', async () => {
  const { session, findTyped } = topicWith([storedMessageId('order 17')])
  const other = codec.encode(eventOf({ message: messageOf({ event: 'order 17' }) }))
  for (let n = 1; n <= 25; n++) session.append(topics.events, 0, start + n, { key: null, value: other, headers: {} })
  expect(await findTyped('order 17')).toMatchObject({ found: [{ offset: 0 }], isComplete: true })
})

it.each([topics.events, topicNames('p'.repeat(200)).events])(
  'finds the replayed copy of an event without an id by the position of the first record, in topic %s',
  async topic => {
    const { session, find } = topicWith([])
    const { messageId: _, ...message } = messageOf()
    const value = Buffer.from(JSON.stringify({ ...eventOf(), canonical: false, message }))
    session.append(topics.events, 0, start, { key: null, value, headers: {} })
    session.append(topics.events, 0, start + 1, { key: null, value, headers: { 'replay-of': `${topic}/0/0/${start}` } })
    expect((await find(storedMessageId(`${topic}/0/0`), [1])).found).toMatchObject([{ offset: 1 }])
  },
)
