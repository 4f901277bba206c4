import { setTimeout as delay } from 'node:timers/promises'
import { clockOffBy, setClock } from './faked-clock.ts'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import type { Fault } from './scenario.ts'

/** Shifts the wall clock of all processes, and corrects it after `seconds`. */
export const shiftClock = (shiftSeconds: number, seconds: number): Fault => ({
  name: `clock ${shiftSeconds > 0 ? '+' : ''}${shiftSeconds / 3_600} h`,
  async inject({ directory }) {
    const at = now()
    await setClock(directory, shiftSeconds)
    await delay(seconds * 1_000)
    await setClock(directory, 0)
    return { what: `for ${seconds} s`, at, recovery: onPartitions(allPartitions, now()) }
  },
})

/**
 * Starts a process with a wrong wall clock, then stops the oldest process. The new process must
 * deliver.
 */
export const startWithClock = (offSeconds: number): Fault => ({
  name: `started with its clock ${offSeconds > 0 ? '+' : '−'}${Math.abs(offSeconds) / 60} min`,
  async inject({ fleet }) {
    const at = now()
    const [oldest] = fleet.members()
    const { name } = await fleet.start(await clockOffBy(offSeconds))
    const code = oldest === undefined ? 0 : await fleet.stop(oldest)
    const problems = code === 0 ? [] : [`${oldest?.name} ended with exit code ${code} after SIGTERM`]
    return { what: name, at, problems, recovery: { keys: new Set([name]), from: at, keyOf: ({ process }) => process } }
  },
})
