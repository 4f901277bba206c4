import { setTimeout as delay } from 'node:timers/promises'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import type { Fault } from './scenario.ts'

/**
 * Only waits for `seconds`. The recovery ends when each of `partitions` has delivered an event that
 * was sent after this time.
 */
export const noFault = (seconds: number, partitions: Iterable<number> = allPartitions): Fault => ({
  name: 'watched',
  async inject() {
    const at = now()
    await delay(seconds * 1_000)
    return { what: `for ${seconds} s`, at, recovery: onPartitions(partitions, now()) }
  },
})
