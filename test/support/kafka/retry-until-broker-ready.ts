import { setTimeout } from 'node:timers/promises'
import { coordinatorErrors, errorCodeOf, propagationErrors } from '../../../src/adapters/kafka/kafkajs/errors.ts'

/*
 * This file must not import kafkajs. In a process of Jest, the tests and Hookline share the loaded
 * modules of kafkajs. Hookline must load and patch these modules before any other file loads them.
 */

/** The errors of a broker that does not know a new topic yet, or has not loaded a group yet. */
const temporaryErrors: ReadonlySet<string> = new Set([...propagationErrors, ...coordinatorErrors])

/**
 * Repeats a request of kafkajs as long as it fails with one of these temporary errors. Only the
 * timeout of the Jest test limits the time.
 */
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
