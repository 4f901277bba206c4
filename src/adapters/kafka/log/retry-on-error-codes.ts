import { setTimeout } from 'node:timers/promises'
import { errorCodeOf } from '../kafkajs/errors.ts'

/** Maximum tries of a request while the brokers are not ready for it: about ten seconds. */
const maxTries = 100
const retryAfterMs = 100

/**
 * Repeats a request that fails with one of these errors, for about ten seconds.
 * @param codes the codes of the errors, from `errorCodeOf`
 */
export async function retryOn<T>(codes: ReadonlySet<string>, request: () => Promise<T>): Promise<T> {
  for (let remaining = maxTries; ; remaining--) {
    try {
      return await request()
    } catch (error) {
      if (remaining === 1 || !codes.has(errorCodeOf(error))) throw error
      await setTimeout(retryAfterMs)
    }
  }
}
