import { afterEach, describe, expect, it } from '@jest/globals'
import { createConsumer } from '../../../../../src/adapters/kafka/group/consumer.ts'
import type { KafkaClient } from '../../../../../src/adapters/kafka/kafkajs/client.ts'
import type { LogConsumer } from '../../../../../src/core/ports.ts'
import { durationMs } from '../../../../../src/core/time.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'
import { silent } from '../../../../support/telemetry/silent-logger.ts'
import { settle } from './single-member-group.ts'

let started: LogConsumer | undefined
afterEach(() => started?.stop())

/** A consumer that never joins its group. The test makes its kafkajs client report responses. */
async function setUp() {
  const clock = new ManualClock()
  let dial = (): void => undefined
  const listeners = new Map<string, (event: { payload: { apiName: string } }) => void>()
  const consumer = {
    events: {
      REQUEST: 'consumer.network.request',
      REQUEST_TIMEOUT: 'consumer.network.request_timeout',
      CRASH: 'consumer.crash',
    },
    on: (event: string, listener: (event: { payload: { apiName: string } }) => void) => listeners.set(event, listener),
    connect: async () => undefined,
    subscribe: async () => undefined,
    run: async () => undefined,
    disconnect: async () => undefined,
  }
  started = createConsumer({
    kafka: {
      consumer: (_config: unknown, onDial: () => void) => {
        dial = onDial
        return consumer
      },
    } as unknown as KafkaClient,
    groupId: 'group',
    topics: ['topic'],
    clock,
    logger: silent,
    onFatal: () => undefined,
    onPositionLost: () => undefined,
    maxWait: durationMs(100),
  })
  const idle = (): void => undefined
  const handlers = { onAssigned: idle, onRecords: idle, onRevoked: idle, onLeaseAcquired: idle }
  started.start({ ...handlers, onRevoking: async () => undefined, positions: () => [] }).catch(idle)
  await settle()
  const answered = (apiName: string): void => listeners.get('consumer.network.request')?.({ payload: { apiName } })
  const timedOut = (): void => listeners.get('consumer.network.request_timeout')?.({ payload: { apiName: 'Fetch' } })
  return {
    ...{ clock, answered, timedOut, dial: () => dial() },
    silence: (): number => started?.timeSinceContact() ?? Number.NaN,
    inactivity: (): number => started?.inactivity() ?? Number.NaN,
  }
}

describe('time since the last contact', () => {
  it('counts from the start, also without any join', async () => {
    const { clock, silence } = await setUp()
    expect(silence()).toBe(0)
    await clock.advance(75_000)
    expect(silence()).toBe(75_000)
  })

  it.each([
    { apiName: 'Fetch', after: 0 },
    { apiName: 'Heartbeat', after: 0 },
    { apiName: 'SyncGroup', after: 0 },
    // These responses do not prove that the consumer is a member of its group, or can get records.
    { apiName: 'Metadata', after: 75_000 },
    { apiName: 'FindCoordinator', after: 75_000 },
    { apiName: 'JoinGroup', after: 75_000 },
    { apiName: 'ApiVersions', after: 75_000 },
    { apiName: 'OffsetCommit', after: 75_000 },
  ])('is $after ms after 75 s and a response to $apiName', async ({ apiName, after }) => {
    const { clock, answered, silence } = await setUp()
    await clock.advance(75_000)
    answered(apiName)
    expect(silence()).toBe(after)
    await clock.advance(1_000)
    expect(silence()).toBe(after + 1_000)
  })
})

describe('time since the last attempt to reach a broker', () => {
  it.each(['dial', 'timedOut'] as const)('is reset by %s, which is not a contact', async tries => {
    const { clock, silence, inactivity, ...consumer } = await setUp()
    await clock.advance(75_000)
    expect(inactivity()).toBe(75_000)
    consumer[tries]()
    expect([inactivity(), silence()]).toEqual([0, 75_000])
    await clock.advance(1_000)
    expect(inactivity()).toBe(1_000)
  })

  it('is reset by any response', async () => {
    const { clock, answered, inactivity } = await setUp()
    await clock.advance(75_000)
    answered('Metadata')
    expect(inactivity()).toBe(0)
  })
})
