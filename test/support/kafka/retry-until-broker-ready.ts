import { setTimeout } from 'node:timers/promises'
import { coordinatorErrors, errorCodeOf, propagationErrors } from '../../../src/adapters/kafka/kafkajs/errors.ts'

/*
 * This file must not import kafkajs. In Jest, tests and Hookline share the modules of kafkajs, and
 * Hookline must patch these modules before they are loaded.
 */

/** Errors of a broker that does not know a new topic yet, or has not loaded a group yet. */
const temporaryErrors: ReadonlySet<string> = new Set([...propagationErrors, ...coordinatorErrors])

/** Repeats a request of kafkajs while it fails with a temporary error, without a time limit. */
export async function onceReady<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!temporaryErrors.has(errorCodeOf(error))) throw error
    }
    await setTimeout(50)
  }
}
