import { describe, expect, it } from '@jest/globals'
import type { KafkaClient } from '../../../../src/adapters/kafka/kafkajs/client.ts'
import { createGroupConsumer } from '../../../../src/app/compose/shared-dependencies.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const nothing = (): void => undefined
const done = async (): Promise<void> => undefined

function setUp(client: object) {
  const counts = new Map<string, number>()
  const stop = new AbortController()
  const kafka = { consumer: () => client } as unknown as KafkaClient
  const deps = { kafka, clock: new ManualClock(), logger: silent, metrics: countingMetrics(counts), onFatal: nothing }
  const consumer = createGroupConsumer(
    { ...deps, stopAsked: stop.signal },
    {
      ...{ group: 'retries', groupId: 'hookline.retries', maxWait: durationMs(500), onLoss: 'gone' },
      topics: ['hookline.retry.10s', 'hookline.retry.30s'],
    },
  )
  return { consumer, counts, stop }
}

it('creates the loss counter of every topic with 0, so that the first loss is an increase', () => {
  expect([...setUp({}).counts]).toEqual([
    ['positionsLost{hookline.retry.10s}', 0],
    ['positionsLost{hookline.retry.30s}', 0],
  ])
})

describe('a stop of the process before a consumer has joined its group', () => {
  it.each([
    // The `run` of kafkajs resolves when the first join has failed with a retriable error.
    ['between two tries to join', done],
    ['during a try to join', () => new Promise(nothing)],
  ])('ends the start of the consumer %s', async (_, tryToJoin) => {
    const calls: string[] = []
    const running = Promise.withResolvers<void>()
    const { consumer, stop } = setUp({
      events: {},
      on: nothing,
      connect: done,
      subscribe: done,
      run() {
        running.resolve()
        return tryToJoin()
      },
      disconnect: async () => void calls.push('disconnect'),
    })
    const handlers = { onAssigned: nothing, onRecords: nothing, onRevoked: nothing, onLeaseAcquired: nothing }
    const started = consumer.start({ ...handlers, onRevoking: done, positions: () => [] })
    await running.promise
    stop.abort()
    await expect(started).rejects.toThrow('consumer of group hookline.retries is stopped')
    expect(calls).toEqual(['disconnect'])
  })
})
