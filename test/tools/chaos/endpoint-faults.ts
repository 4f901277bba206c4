import { setTimeout as delay } from 'node:timers/promises'
import { allPartitions, onPartitions } from './faults.ts'
import type { Answer, Delivery } from './ledger.ts'
import { numberOf } from './load.ts'
import type { Fault } from './scenario.ts'

const now = (): number => performance.now()

/**
 * One message in ten meets the fault, so the circuit breaker stays closed and every attempt is on
 * schedule.
 */
const oneIn = 10

/**
 * One destination gives `answer` to every request for `seconds`, and another one to a tenth of its
 * messages. Then both recover.
 */
export const failEndpoint = (
  destination: string,
  partly: string,
  kind: string,
  answer: Answer,
  seconds: number,
): Fault => ({
  name: `endpoint ${kind} ${seconds} s`,
  async inject({ receiver }) {
    const at = now()
    receiver.follow(destination, () => answer)
    receiver.follow(partly, id => (numberOf(id) % oneIn === 0 ? answer : 200))
    await delay(seconds * 1_000)
    for (const each of [destination, partly]) receiver.follow(each, () => 200)
    const counts = (delivery: Delivery): boolean => delivery.destination === destination
    return { what: destination, at, recovery: onPartitions(allPartitions, now(), counts) }
  },
})

/**
 * Makes endpoints give `answer` to every request from now on. Waits `seconds`; then the other
 * endpoints must deliver.
 */
export const failEndpoints = (ids: readonly string[], answer: Answer, seconds: number, well: string): Fault => ({
  name: `${ids.length} endpoints fail`,
  async inject({ receiver }) {
    const at = now()
    for (const id of ids) receiver.follow(id, () => answer)
    await delay(seconds * 1_000)
    const counts = (delivery: Delivery): boolean => delivery.destination === well
    return { what: `for ${seconds} s`, at, recovery: onPartitions(allPartitions, now(), counts) }
  },
})

/** Heals these endpoints. Recovered when each delivers. */
export const recoverEndpoints = (ids: readonly string[]): Fault => ({
  name: 'healed',
  async inject({ receiver }) {
    const at = now()
    for (const id of ids) receiver.follow(id, () => 200)
    const keyOf = ({ sent, destination }: Delivery): string | undefined => (sent.at >= at ? destination : undefined)
    return { what: `${ids.length} endpoints`, at, recovery: { keys: new Set(ids), from: at, keyOf } }
  },
})

/** Does nothing for `seconds`, to observe the set-up alone. Then these partitions must deliver. */
export const watch = (seconds: number, partitions: Iterable<number> = allPartitions): Fault => ({
  name: 'watched',
  async inject() {
    const at = now()
    await delay(seconds * 1_000)
    return { what: `for ${seconds} s`, at, recovery: onPartitions(partitions, now()) }
  },
})
