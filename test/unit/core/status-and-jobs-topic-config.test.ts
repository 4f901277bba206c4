import { expect, it } from '@jest/globals'
import { durationMs } from '../../../src/core/time.ts'
import { topicConfig, topicSpecs } from '../../../src/core/topics.ts'

const specs = topicSpecs({ prefix: 'acme', partitions: 12, replicationFactor: 3 }, [durationMs(10_000)], {
  jobsTopic: true,
})
const configOf = (name: string) => specs.filter(spec => spec.name === name).map(topicConfig)[0]

it.each(['acme.status', 'acme.jobs'])(
  '%s, which an operator process reads completely when it starts, has small segments',
  name => expect(configOf(name)).toMatchObject({ 'segment.bytes': '52428800' }),
)

it('Kafka may compact the jobs topic after 10 minutes', () =>
  expect(configOf('acme.jobs')).toMatchObject({ 'min.compaction.lag.ms': '600000' }))
