import type { LogConsumer } from '../../../src/core/ports.ts'

export function consumerWhileAlive(consumer: LogConsumer, isAlive: () => boolean): LogConsumer {
  return {
    start: handlers => consumer.start(handlers),
    pause: partition => (isAlive() ? consumer.pause(partition) : undefined),
    resume: partition => (isAlive() ? consumer.resume(partition) : undefined),
    seek: (partition, offset) => (isAlive() ? consumer.seek(partition, offset) : undefined),
    stop: async () => (isAlive() ? consumer.stop() : undefined),
    holdsLease: () => consumer.holdsLease(),
    timeSinceContact: () => consumer.timeSinceContact(),
    inactivity: () => consumer.inactivity(),
  }
}
