import { systemClock } from '../../src/adapters/clock.ts'
import { createKafka } from '../../src/adapters/kafka/client.ts'
import { createConsumer } from '../../src/adapters/kafka/consumer.ts'
import { durationMs } from '../../src/core/units.ts'
import { type Load, startLoad } from './load.ts'
import { silent } from './silent-logger.ts'

/**
 * Members that join a group and leave it again, one after another, as when an autoscaler cannot make up its mind. They speak the group's own
 * protocol; what they are given they do not touch.
 */
export function startPassingMembers(groupId: string, topic: string): Load {
  async function pass(): Promise<void> {
    const member = createConsumer({
      kafka: createKafka(
        {
          brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
          clientId: 'passing',
          tls: undefined,
          sasl: undefined,
        },
        silent,
      ),
      ...{ groupId, topics: [topic], clock: systemClock, logger: silent, maxWait: durationMs(100) },
      onFatal: () => undefined,
      onPositionLost: () => undefined,
    })
    await member.start({
      onAssigned: () => undefined,
      onRecords: () => undefined,
      onRevoked: () => undefined,
      onRevoking: () => Promise.resolve(),
      onConfirmed: () => undefined,
      positions: () => [],
    })
    await member.stop()
  }
  return startLoad(pass, 0)
}
