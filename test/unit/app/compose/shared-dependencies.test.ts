import { expect, it } from '@jest/globals'
import type { KafkaClient } from '../../../../src/adapters/kafka/kafkajs/client.ts'
import { createGroupConsumer } from '../../../../src/app/compose/shared-dependencies.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

it('creates the loss counter of every topic with 0, so that the first loss is an increase', () => {
  const counts = new Map<string, number>()
  const kafka = undefined as unknown as KafkaClient
  const metrics = countingMetrics(counts)
  const stopAsked = new AbortController().signal
  const foundation = { kafka, clock: new ManualClock(), logger: silent, metrics, onFatal() {}, stopAsked }
  createGroupConsumer(foundation, {
    ...{ group: 'retries', groupId: 'hookline.retries', maxWait: durationMs(500), onLoss: 'gone' },
    topics: ['hookline.retry.10s', 'hookline.retry.30s'],
  })
  expect([...counts]).toEqual([
    ['positionsLost{hookline.retry.10s}', 0],
    ['positionsLost{hookline.retry.30s}', 0],
  ])
})
