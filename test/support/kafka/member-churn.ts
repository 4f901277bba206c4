import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createConsumer } from '../../../src/adapters/kafka/group/consumer.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { durationMs } from '../../../src/core/time.ts'
import { type Load, startLoad } from '../process/repeated-load.ts'
import { silent } from '../telemetry/silent-logger.ts'

/**
 * Repeatedly starts a member that joins a consumer group and leaves it, like the replicas of an
 * unstable autoscaler.
 */
export function startMemberChurn(groupId: string, topic: string): Load {
  async function pass(): Promise<void> {
    const member = createConsumer({
      kafka: createKafka(
        {
          brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
          clientId: 'member-churn',
          tls: undefined,
          sasl: undefined,
        },
        silent,
      ),
      ...{ groupId, topics: [topic], clock: processClock, logger: silent, maxWait: durationMs(100) },
      onFatal: () => undefined,
      onPositionLost: () => undefined,
    })
    await member.start({
      onAssigned: () => undefined,
      onRecords: () => undefined,
      onRevoked: () => undefined,
      onRevoking: () => Promise.resolve(),
      onLeaseAcquired: () => undefined,
      positions: () => [],
    })
    await member.stop()
  }
  return startLoad(pass, 0)
}
