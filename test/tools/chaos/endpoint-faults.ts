import { setTimeout as delay } from 'node:timers/promises'
import { numberOf } from './event-load.ts'
import type { Answer, Delivery } from './message-ledger.ts'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import type { Fault } from './scenario.ts'

/** With one failing message in ten, the circuit breaker stays closed, so attempts begin on time. */
const oneIn = 10

/**
 * For `seconds`, endpoint `destination` gives `answer` to every request, and endpoint `partly`
 * gives it to a tenth of its messages.
 */
export const failEndpoint = (
  destination: string,
  partly: string,
  kind: string,
  answer: Answer,
  seconds: number,
): Fault => ({
  name: `endpoint ${destination} ${kind} for`,
  async inject({ receiver }) {
    const at = now()
    receiver.follow(destination, () => answer)
    receiver.follow(partly, id => (numberOf(id) % oneIn === 0 ? answer : 200))
    await delay(seconds * 1_000)
    for (const each of [destination, partly]) receiver.follow(each, () => 200)
    const counts = (delivery: Delivery): boolean => delivery.destination === destination
    return { what: `${seconds} s`, at, recovery: onPartitions(allPartitions, now(), counts) }
  },
})

/**
 * Makes the endpoints `ids` respond with `answer`. The recovery ends when `well`, an endpoint
 * without faults, has got a message of each partition.
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

/**
 * Makes the endpoints respond with 200 again. The recovery ends when each endpoint has got a
 * message that was sent after this change.
 */
export const recoverEndpoints = (ids: readonly string[]): Fault => ({
  name: 'healed',
  async inject({ receiver }) {
    const at = now()
    for (const id of ids) receiver.follow(id, () => 200)
    const keyOf = ({ sent, destination }: Delivery): string | undefined => (sent.at >= at ? destination : undefined)
    return { what: `${ids.length} endpoints`, at, recovery: { keys: new Set(ids), from: at, keyOf } }
  },
})
