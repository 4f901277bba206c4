import type { Clock, Logger } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'
import { type Chore, createChore } from '../chore.ts'
import type { Marks } from './marks.ts'

/** Marks last for weeks: nobody waits for one to go. */
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

/** Takes marks that are over out of their topic, slowly. */
export function createUpkeep({ marks, isOurs, clock, logger }: Deps): Chore {
  const turn = async (): Promise<DurationMs> => (isOurs() && !(await isTidied()) ? againAfter : lookEvery)

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

  return createChore({ clock, firstAfter: lookEvery, turn })
}
