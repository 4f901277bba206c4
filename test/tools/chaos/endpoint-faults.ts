import { setTimeout as delay } from 'node:timers/promises'
import { allPartitions, onPartitions } from './faults.ts'
import type { Answer, Delivery } from './ledger.ts'
import { numberOf } from './load.ts'
import type { Fault } from './scenario.ts'

const now = (): number => performance.now()

/** Each so many-th message meets the fault at a destination: few enough that its breaker stays closed and every attempt is on schedule. */
const oneIn = 10

/** One destination answers every call like that for so long, another one a part of its calls; then both are well. */
export const spoilEndpoint = (
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

/** From now on these answer every call like that, and so many seconds later they still do. The others have to deliver. */
export const sicken = (ids: readonly string[], answer: Answer, seconds: number, well: string): Fault => ({
  name: `${ids.length} ill`,
  async inject({ receiver }) {
    const at = now()
    for (const id of ids) receiver.follow(id, () => answer)
    await delay(seconds * 1_000)
    const counts = (delivery: Delivery): boolean => delivery.destination === well
    return { what: `for ${seconds} s`, at, recovery: onPartitions(allPartitions, now(), counts) }
  },
})

/** All of these are well again; recovered when each delivers. */
export const healAll = (ids: readonly string[]): Fault => ({
  name: 'healed',
  async inject({ receiver }) {
    const at = now()
    for (const id of ids) receiver.follow(id, () => 200)
    const keyOf = ({ sent, destination }: Delivery): string | undefined => (sent.at >= at ? destination : undefined)
    return { what: `${ids.length} endpoints`, at, recovery: { keys: new Set(ids), from: at, keyOf } }
  },
})

/** Nothing is done for so long: what is seen is what the set-up does. Then these partitions have to deliver. */
export const watch = (seconds: number, partitions: Iterable<number> = allPartitions): Fault => ({
  name: 'watched',
  async inject() {
    const at = now()
    await delay(seconds * 1_000)
    return { what: `for ${seconds} s`, at, recovery: onPartitions(partitions, now()) }
  },
})
