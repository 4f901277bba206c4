import { describe, expect, it } from '@jest/globals'
import { deleteMessagesOf } from '../../../../src/core/deletion/deletion-request.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
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
  const [event] = deleteMessagesOf({ userIds: ['ada'], sources: undefined, suppress: false }, record)
  return event as Event
}

describe('a delete is delivered only if it was requested', () => {
  const written = async (given: (harness: DispatcherHarness) => void, of = deleteAt): Promise<DispatcherHarness> => {
    const harness = await DispatcherHarness.started()
    given(harness)
    harness.log.write(harness.topics.events, harness.codec.encode(of(harness.clock.now())), 'ada')
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1_000)
    return harness
  }

  it('when there is a suppression for it', async () => {
    const harness = await written(it =>
      it.mark('ada', { source: undefined, deletedAt: it.clock.now(), isSuppressed: false }),
    )
    expect(types(harness)).toEqual(['delete', 'track'])
    expect(reasons(harness)).toEqual([])
  })

  it.each<[string, (harness: DispatcherHarness) => void]>([
    ['without a suppression of the user', () => undefined],
    [
      'with a suppression of another source',
      harness => harness.mark('ada', { source: 'app', deletedAt: harness.clock.now(), isSuppressed: false }),
    ],
    [
      'with an older suppression',
      harness =>
        harness.mark('ada', { source: undefined, deletedAt: epochMs(harness.clock.now() - 1), isSuppressed: false }),
    ],
  ])('%s it is dead-lettered as undecodable, not reported, and does not block the partition', async (_, given) => {
    const harness = await written(given)
    expect(types(harness)).toEqual(['track'])
    expect(reasons(harness)).toEqual(['undecodable'])
    expect(harness.log.records(harness.topics.deletions)).toEqual([])
    expect(harness.log.committed('live', harness.topics.events)).toBe(2)
  })

  describe('while the suppression list is behind', () => {
    const cutOff = async (): Promise<DispatcherHarness> => {
      const harness = await DispatcherHarness.started()
      harness.follower.isCutOff = true
      await harness.advance(1)
      return harness
    }
    const users = ({ calls }: DispatcherHarness): string[] =>
      calls.map(({ call }) => (JSON.parse(call.body.toString()) as { userId: string }).userId)

    it('it waits, and later events of its user wait behind it', async () => {
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

    it('a later event of its user that needs a schema keeps its place before the events behind it', async () => {
      const harness = await cutOff()
      const deleted = deleteAt(harness.clock.now())
      harness.write(deleted)
      await harness.advance(1)
      const eventOf = (id: string): Event => ({
        ...{ ...deleted, destinationId: undefined, origin: undefined },
        receivedAt: harness.clock.now(),
        message: trackMessage(id, { userId: 'ada' }),
      })
      const writeWithSchema = (schemaId: number, event: Event): void => {
        const value = `schema:${schemaId}:${harness.codec.encode(event).toString()}`
        harness.log.write(harness.topics.events, Buffer.from(value), 'ada')
      }
      writeWithSchema(7, eventOf('m1'))
      harness.write(eventOf('m2'))
      writeWithSchema(8, deleted)
      harness.write(eventOf('m3'))
      await harness.advance(100)
      harness.codec.registryIsDown = true
      harness.follower.isCutOff = false
      await harness.advance(1_000)
      expect(types(harness)).toEqual(['delete'])
      harness.codec.registryIsDown = false
      harness.write(eventOf('m4'))
      await harness.advance(5_000)
      const ids = harness.calls.map(({ call }) => call.headers['X-Message-Id'])
      const { messageId } = deleted.message
      expect(ids).toEqual([messageId, 'm1', 'm2', messageId, 'm3', 'm4'])
      expect(harness.log.committed('live', harness.topics.events)).toBe(6)
    })

    it('a check that ends during a stop writes nothing; the next owner handles the record', async () => {
      const harness = await cutOff()
      harness.log.write(harness.topics.events, harness.codec.encode(deleteAt(harness.clock.now())), 'ada')
      await harness.advance(1)
      const stopped = harness.service.stop()
      harness.follower.isCutOff = false
      await harness.advance(3_000)
      await stopped
      expect(reasons(harness)).toEqual([])
      expect(harness.log.committed('live', harness.topics.events)).toBe(0)
    })

    it('forged deletes do not delay other users, and are dead-lettered', async () => {
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

    it('while the partition is being revoked, waiting records are not handled, until the revocation is cancelled', async () => {
      const harness = await cutOff()
      const { live, topics } = harness
      harness.log.write(topics.events, harness.codec.encode(deleteAt(harness.clock.now())), 'ada')
      await harness.advance(1)
      harness.write({ sourceId: 'hookline.canary', canonical: false, message: trackMessage('m1', { userId: 'ada' }) })
      await harness.advance(1)
      await live.handlers?.onRevoking([{ topic: topics.events, partition: 0 }], Number.POSITIVE_INFINITY)
      harness.follower.isCutOff = false
      await harness.advance(2_000)
      expect(reasons(harness)).toEqual([])
      await live.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
      await harness.advance(2_000)
      expect(reasons(harness)).toEqual(['undecodable', 'unknown_source'])
    })

    it('waiting records are left to the next owner of the partition', async () => {
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

describe('no content of a record ends the process', () => {
  const broken = '{"x":{,"name":"y"}' as JsonText
  it.each<[string, Partial<Event['message']>]>([
    ['properties that are not JSON', { type: 'page', name: 'Home', properties: broken }],
    ['integrations that are not JSON', { integrations: '{"a":false' as JsonText }],
    ['a timestamp out of range', { timestamp: epochMs(1e17) }],
  ])('%s: dead-lettered and counted', async (_, message) => {
    const harness = await DispatcherHarness.started()
    harness.write({ message: { ...trackMessage('bad'), ...message } })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(10)
    expect(types(harness)).toEqual(['track'])
    expect(reasons(harness)).toEqual(['undecodable'])
    expect(harness.count('recordFailures{}')).toBe(1)
    expect(harness.log.committed('live', harness.topics.events)).toBe(2)
  })

  it('an event of a foreign producer cannot have a source of Hookline', async () => {
    const harness = await DispatcherHarness.started()
    harness.write({ sourceId: 'hookline.canary', destinationId: 'crm', canonical: false, message: trackMessage('m') })
    await harness.advance(10)
    expect(reasons(harness)).toEqual(['unknown_source'])
    expect(harness.calls).toEqual([])
  })
})
