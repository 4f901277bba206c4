import { setTimeout as delay } from 'node:timers/promises'
import { isOutOfReach } from '../../adapters/kafka/kafkajs/errors.ts'
import type { Logger } from '../../core/ports.ts'

const againAfterMs = 2_000

/**
 * Asks Kafka again until a broker answers: while none can be reached there is nothing that a restart would change.
 * @throws what else goes wrong, and as soon as the process is to stop
 */
export async function awaitKafka<T>(
  ask: () => Promise<T>,
  { logger, stopAsked }: { readonly logger: Pick<Logger, 'warn'>; readonly stopAsked: AbortSignal },
): Promise<T> {
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => undefined)
  const stop = (): void => stopped.reject(stopAsked.reason)
  stopAsked.addEventListener('abort', stop)
  if (stopAsked.aborted) stop()
  try {
    for (let isTold = false; ; isTold = true) {
      try {
        return await Promise.race([ask(), stopped.promise])
      } catch (error) {
        if (stopAsked.aborted || !isOutOfReach(error)) throw error
        if (!isTold) logger.warn({ error: (error as Error).message }, 'Kafka cannot be reached: the start waits for it')
      }
      await delay(againAfterMs, undefined, { signal: stopAsked })
    }
  } finally {
    stopAsked.removeEventListener('abort', stop)
  }
}
