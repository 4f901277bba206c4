import type { Clock, Logger } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { Marks } from './marks.ts'

/** Marks last for four days: nobody waits for one to go. */
const lookEvery = durationMs(10 * 60_000)
/** In small parts: the process has other things to do. */
const usersAtOnce = 500
const againAfter = durationMs(1_000)

interface Deps {
  readonly marks: Pick<Marks, 'tidy' | 'isCurrent'>
  /** Whether it is this process that does it: one is enough, and two do no harm. */
  readonly isOurs: () => boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** Takes marks that are over out of their topic, slowly, until it is stopped. */
export interface Upkeep {
  start(): void
  stop(): void
}

export function createUpkeep({ marks, isOurs, clock, logger }: Deps): Upkeep {
  let cancel = (): void => undefined
  let isStopped = false

  async function look(): Promise<void> {
    const wait = isOurs() && !(await isTidied()) ? againAfter : lookEvery
    if (!isStopped) cancel = clock.after(wait, look)
  }

  /** Whether nothing is left to do for now. */
  async function isTidied(): Promise<boolean> {
    if (!marks.isCurrent()) return false
    try {
      return (await marks.tidy(usersAtOnce)) < usersAtOnce
    } catch (error) {
      logger.warn({ error: (error as Error).message }, 'marks of deletions that are over stay for now')
      return true
    }
  }

  return {
    start() {
      cancel = clock.after(lookEvery, look)
    },
    stop() {
      isStopped = true
      cancel()
    },
  }
}
