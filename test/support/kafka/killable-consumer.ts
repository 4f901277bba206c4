import type { LogConsumer } from '../../../src/core/ports.ts'

/** A consumer that ignores its calls when its process is dead. */
export function killable(consumer: LogConsumer, isAlive: () => boolean): LogConsumer {
  return {
    start: handlers => consumer.start(handlers),
    pause: partition => (isAlive() ? consumer.pause(partition) : undefined),
    resume: partition => (isAlive() ? consumer.resume(partition) : undefined),
    seek: (partition, offset) => (isAlive() ? consumer.seek(partition, offset) : undefined),
    stop: async () => (isAlive() ? consumer.stop() : undefined),
    isConfirmed: () => consumer.isConfirmed(),
    silence: () => consumer.silence(),
    inactivity: () => consumer.inactivity(),
  }
}
