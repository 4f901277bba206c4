import { describe, expect, it } from '@jest/globals'
import { BrokerFailover } from '../../../../../src/adapters/kafka/group/keep-membership-during-failover.ts'
import { SessionLease } from '../../../../../src/adapters/kafka/group/session-lease.ts'
import type { ConsumerGroup } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'
import { silent } from '../../../../support/telemetry/silent-logger.ts'
import { settle } from './single-member-group.ts'

const error = (name: string, more: object = {}): Error => Object.assign(new Error(name), { name, ...more })
const refused = error('KafkaJSConnectionError', { code: 'ECONNREFUSED' })

/**
 * Creates a group whose coordinators can fail. `answers` has the coordinators that reject
 * heartbeats, each with its error. A look-up of the coordinator finds `state.found`.
 */
function setUp() {
  const clock = new ManualClock()
  const beats: string[] = []
  const answers = new Map<string, Error>()
  const coordinator = (name: string) => ({
    name,
    heartbeat: async () => {
      beats.push(name)
      const answer = answers.get(name)
      if (answer !== undefined) throw answer
    },
  })
  const state = { found: 'one' as string | undefined, asked: 0, refreshed: 0 }
  const first = coordinator('one')
  const group = {
    ...{ groupId: 'group', memberId: 'me', generationId: 3, coordinator: first },
    offsetManager: { coordinator: first },
    cluster: {
      refreshMetadata: async () => void state.refreshed++,
      findGroupCoordinator: async () => {
        state.asked++
        if (state.found === undefined) throw error('KafkaJSGroupCoordinatorNotFound')
        return coordinator(state.found)
      },
    },
  }
  const lease = new SessionLease(clock, () => undefined)
  const failover = new BrokerFailover({ clock, logger: silent, lease })
  const it = group as unknown as ConsumerGroup
  return { clock, beats, answers, state, group, it, lease, coordinator, beat: () => failover.heartbeat(it), failover }
}

describe('a heartbeat', () => {
  it.each([
    { name: 'refused connection', answer: refused },
    { name: 'closed connection', answer: error('KafkaJSConnectionClosedError') },
    { name: 'request timeout', answer: error('KafkaJSRequestTimeoutError') },
    { name: 'waiting for another connection attempt', answer: error('KafkaJSLockTimeout', { retriable: false }) },
    {
      name: 'response of the old coordinator',
      answer: error('KafkaJSProtocolError', { type: 'NOT_COORDINATOR_FOR_GROUP' }),
    },
    {
      name: 'response of a coordinator that is loading',
      answer: error('KafkaJSProtocolError', { type: 'GROUP_LOAD_IN_PROGRESS' }),
    },
  ])('goes to the new coordinator, as commits do, after: $name', async ({ answer }) => {
    const { clock, beats, answers, state, group, beat, lease } = setUp()
    await beat()
    answers.set('one', answer)
    state.found = 'two'
    await clock.advance(500, settle)
    await beat()
    await clock.advance(200, settle)
    await beat()
    expect(beats).toEqual(['one', 'one', 'two'])
    expect([group.coordinator, group.offsetManager.coordinator]).toMatchObject([{ name: 'two' }, { name: 'two' }])
    expect(lease.ageMs).toBe(0)
  })

  it('is not sent without a coordinator, which is looked up five times a second', async () => {
    const { clock, beats, answers, state, beat, lease } = setUp()
    await beat()
    answers.set('one', refused)
    state.found = undefined
    for (let at = 0; at < 9_000; at += 100) {
      await clock.advance(100, settle)
      await Promise.all([beat(), beat()])
    }
    const sent = beats.length
    expect(state.asked).toBeLessThanOrEqual(45)
    // One heartbeat before the fault, and at most one before each of the 45 look-ups of the
    // coordinator.
    expect(sent).toBeLessThanOrEqual(46)
    expect(lease.isHeld).toBe(false)
    state.found = 'two'
    for (const _ of [1, 2, 3]) {
      await beat()
      await clock.advance(200, settle)
    }
    expect([beats.at(-1), lease.isHeld]).toEqual(['two', true])
  })

  it.each(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS'])('fails with %s', async type => {
    const { clock, answers, beat, state } = setUp()
    await beat()
    const answer = error('KafkaJSProtocolError', { type })
    answers.set('one', answer)
    await clock.advance(500)
    await expect(beat()).rejects.toBe(answer)
    expect(state.asked).toBe(0)
  })

  it('fails after 30 s without a response', async () => {
    const { clock, answers, beat, state } = setUp()
    await beat()
    answers.set('one', refused)
    await clock.advance(29_999)
    await beat()
    await clock.advance(200, settle)
    await expect(beat()).rejects.toBe(refused)
    expect(state.asked).toBe(1)
  })

  it('fails also when the look-up of the coordinator never ends, and succeeds in the next membership', async () => {
    const { clock, answers, beat, beats, group, failover, lease } = setUp()
    await beat()
    answers.set('one', refused)
    group.cluster.findGroupCoordinator = () => new Promise(() => undefined)
    await clock.advance(500)
    await beat()
    await clock.advance(29_499, settle)
    await beat()
    expect(beats).toHaveLength(2)
    await clock.advance(1)
    await expect(beat()).rejects.toBe(refused)
    // kafkajs restarts the consumer, which then has a new group object.
    answers.clear()
    const anew = { ...group } as unknown as ConsumerGroup
    for (const _ of [1, 2]) {
      await failover.heartbeat(anew)
      await clock.advance(500)
    }
    expect([beats.length, lease.ageMs]).toEqual([5, 500])
  })

  it('does not replace a coordinator that a join has found during the look-up', async () => {
    const { clock, answers, state, group, coordinator, beat } = setUp()
    await beat()
    answers.set('one', refused)
    await clock.advance(500)
    const ofJoin = coordinator('three')
    state.found = 'two'
    await beat()
    group.coordinator = ofJoin
    await clock.advance(200, settle)
    expect(group.coordinator).toBe(ofJoin)
  })
})

describe('a fetch', () => {
  it('from an unreachable broker is retried after 200 ms, with fresh metadata', async () => {
    const { clock, state, it, failover, beat } = setUp()
    await beat()
    let isOver = false
    const waiting = failover.afterFetch(it, refused).then(() => {
      isOver = true
    })
    await clock.advance(199, settle)
    expect([isOver, state.refreshed]).toEqual([false, 0])
    await clock.advance(1, settle)
    await waiting
    expect([isOver, state.refreshed]).toEqual([true, 1])
  })

  it.each([
    { name: 'another error', thrown: new TypeError('bug'), afterMs: 0 },
    { name: '30 s without a response to a heartbeat', thrown: refused, afterMs: 30_000 },
  ])('fails for good: $name', async ({ thrown, afterMs }) => {
    const { clock, it, failover, beat } = setUp()
    await beat()
    await clock.advance(afterMs)
    await expect(failover.afterFetch(it, thrown)).rejects.toBe(thrown)
  })

  it('fails before the first membership', async () => {
    const { it, failover } = setUp()
    await expect(failover.afterFetch(it, refused)).rejects.toBe(refused)
  })
})
