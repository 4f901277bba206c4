import { describe, expect, it } from '@jest/globals'
import { deletesOf } from '../../../../src/core/deletion/deletion-request.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { epochMs, type JsonText } from '../../../../src/core/units.ts'
import { trackMessage } from '../../../support/collector/messages.ts'
import { DispatcherHarness } from '../../../support/dispatcher/harness.ts'

const types = ({ calls }: DispatcherHarness): string[] =>
  calls.map(({ call }) => (JSON.parse(call.body.toString()) as { type: string }).type)
const reasons = ({ log, topics }: DispatcherHarness) =>
  log.records(topics.deadLetter).map(({ headers }) => headers['reason'])

function deleteAt(at: number, sourceId = 'web'): Event {
  const record = {
    ...{ id: 'd-1', createdAt: epochMs(at), users: 1, isSuppressed: false },
    sources: [{ id: sourceId, destinations: ['crm'] }],
  }
  const [event] = deletesOf({ userIds: ['ada'], sources: undefined, suppress: false }, record)
  return event as Event
}

describe('a delete goes out only where somebody asked for it', () => {
  const written = async (given: (harness: DispatcherHarness) => void, of = deleteAt): Promise<DispatcherHarness> => {
    const harness = await DispatcherHarness.started()
    given(harness)
    harness.log.write(harness.topics.events, harness.codec.encode(of(harness.clock.now())), 'ada')
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1_000)
    return harness
  }

  it('by its mark', async () => {
    const harness = await written(it =>
      it.mark('ada', { source: undefined, deletedAt: it.clock.now(), isSuppressed: false }),
    )
    expect(types(harness)).toEqual(['delete', 'track'])
    expect(reasons(harness)).toEqual([])
  })

  it.each<[string, (harness: DispatcherHarness) => void]>([
    ['without a mark of the user', () => undefined],
    [
      'with a mark of another source',
      harness => harness.mark('ada', { source: 'app', deletedAt: harness.clock.now(), isSuppressed: false }),
    ],
    [
      'with a mark that is older',
      harness =>
        harness.mark('ada', { source: undefined, deletedAt: epochMs(harness.clock.now() - 1), isSuppressed: false }),
    ],
  ])('%s it is undecodable, reported to nobody, and the partition moves on', async (_, given) => {
    const harness = await written(given)
    expect(types(harness)).toEqual(['track'])
    expect(reasons(harness)).toEqual(['undecodable'])
    expect(harness.log.records(harness.topics.deletions)).toEqual([])
    expect(harness.log.committed('live', harness.topics.events)).toBe(2)
  })

  describe('until everything is known that was requested before', () => {
    const cutOff = async (): Promise<DispatcherHarness> => {
      const harness = await DispatcherHarness.started()
      harness.follower.isCutOff = true
      await harness.advance(1)
      return harness
    }
    const users = ({ calls }: DispatcherHarness): string[] =>
      calls.map(({ call }) => (JSON.parse(call.body.toString()) as { userId: string }).userId)

    it('it waits, and what its user did later waits behind it', async () => {
      const harness = await cutOff()
      harness.write(deleteAt(harness.clock.now()))
      await harness.advance(1)
      harness.write({ message: trackMessage('m1', { userId: 'ada' }) })
      await harness.advance(500)
      expect(types(harness)).toEqual([])
      harness.follower.isCutOff = false
      await harness.advance(500)
      expect(types(harness)).toEqual(['delete', 'track'])
      expect(reasons(harness)).toEqual([])
      expect(harness.log.committed('live', harness.topics.events)).toBe(2)
    })

    it('forged ones hold up no other user, and are dead letters in the end', async () => {
      const harness = await cutOff()
      const forged = deleteAt(harness.clock.now())
      for (const userId of ['bob', 'cid', 'bob']) {
        harness.log.write(harness.topics.events, harness.codec.encode(forged), 'ada')
        harness.write({ message: trackMessage(`of ${userId}`, { userId }) })
      }
      await harness.advance(10)
      expect(users(harness)).toEqual(['bob', 'cid', 'bob'])
      harness.follower.isCutOff = false
      await harness.advance(2_000)
      expect(reasons(harness)).toEqual(['undecodable', 'undecodable', 'undecodable'])
      expect(harness.log.committed('live', harness.topics.events)).toBe(6)
    })

    it("what waits for a partition that is another process's is left to that process", async () => {
      const harness = await cutOff()
      harness.write(deleteAt(harness.clock.now()))
      await harness.advance(1)
      harness.write({ message: trackMessage('m1', { userId: 'ada' }) })
      await harness.advance(1)
      await harness.service.stop()
      harness.follower.isCutOff = false
      await harness.advance(2_000)
      expect(types(harness)).toEqual([])
      expect(reasons(harness)).toEqual([])
    })
  })
})

describe('nothing that a record says ends the process', () => {
  const broken = '{"x":{,"name":"y"}' as JsonText
  it.each<[string, Partial<Event['message']>]>([
    ['properties that are no JSON', { type: 'page', name: 'Home', properties: broken }],
    ['integrations that are no JSON', { integrations: '{"a":false' as JsonText }],
    ['a timestamp out of range', { timestamp: epochMs(1e17) }],
  ])('%s: a dead letter, and it is counted', async (_, message) => {
    const harness = await DispatcherHarness.started()
    harness.write({ message: { ...trackMessage('bad'), ...message } })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(10)
    expect(types(harness)).toEqual(['track'])
    expect(reasons(harness)).toEqual(['undecodable'])
    expect(harness.count('recordFailures{}')).toBe(1)
    expect(harness.log.committed('live', harness.topics.events)).toBe(2)
  })

  it('a foreign producer has no source of our own', async () => {
    const harness = await DispatcherHarness.started()
    harness.write({ sourceId: 'hookline.canary', destinationId: 'crm', canonical: false, message: trackMessage('m') })
    await harness.advance(10)
    expect(reasons(harness)).toEqual(['unknown_source'])
    expect(harness.calls).toEqual([])
  })
})
