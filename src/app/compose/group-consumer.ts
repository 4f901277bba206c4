import { type ConsumerDeps, createConsumer } from '../../adapters/kafka/group/consumer.ts'
import type { ConsumerGroup } from '../../core/metrics/log.ts'
import type { LogConsumer } from '../../core/ports.ts'
import type { Foundation } from './foundation.ts'

interface Membership extends Pick<ConsumerDeps, 'groupId' | 'topics' | 'maxWait' | 'maxWaitWhilePaused' | 'fetch'> {
  readonly group: ConsumerGroup
  /** What it means, for the log, that records are gone before they were read. */
  readonly onLoss: string
}

/** A member of one of our groups, whose commits and losses are counted. */
export function createGroupConsumer(
  { kafka, clock, logger, metrics, onFatal }: Pick<Foundation, 'kafka' | 'clock' | 'logger' | 'metrics' | 'onFatal'>,
  { group, onLoss, ...membership }: Membership,
): LogConsumer {
  // Every series exists from the start: Prometheus sees no increase in a series that begins above 0.
  for (const topic of membership.topics) metrics.positionsLost.inc({ topic }, 0)
  return createConsumer({
    ...{ ...membership, kafka, clock, logger, onFatal },
    onCommit: result => metrics.commits.inc({ group, result }),
    onPositionLost: loss => {
      logger.error(loss, onLoss)
      metrics.positionsLost.inc({ topic: loss.topic }, Math.max(0, loss.to - loss.from))
    },
  })
}
