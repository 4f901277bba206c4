import { type AudienceDirectory, absentValue } from '../../core/audience/audience-directory.ts'
import { isoOf } from '../../core/message/timestamp.ts'
import {
  type AudienceFigures,
  audienceDocument,
  audienceViews,
  type ListAudiences,
} from '../../core/operator/audience-view.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { durationMs, type EpochMs } from '../../core/time.ts'
import { within } from '../../core/within.ts'
import { audienceFigures } from './audience-figures.ts'
import type { MembershipSource } from './read-memberships.ts'

/**
 * Maximum wait of a request for the current reading of the memberships topic. After it, the request
 * gets the figures of the previous reading.
 */
const maxWait = durationMs(1_500)
/**
 * Maximum time of a reading. After it the reading has failed, and a later request begins a new one.
 */
const maxReadTime = durationMs(120_000)
/**
 * Minimum time between the end of one reading of the memberships topic and the start of the next
 * one.
 */
const minPause = durationMs(10_000)
/**
 * Minimum time between two readings, as a multiple of the duration of the last one. So readings
 * take at most a fifth of the time, and little CPU time.
 */
const pausePerReadTime = 4

interface Deps {
  /**
   * Where the memberships are read from; `undefined` when the memberships topic does not exist,
   * because no audience was ever synced.
   */
  readonly source: MembershipSource | undefined
  readonly directory: () => AudienceDirectory
  readonly clock: Clock
  readonly logger: Logger
}

interface Reading {
  readonly at: EpochMs
  readonly figures: ReadonlyMap<string, AudienceFigures>
}

/**
 * Lists the audiences with the figures of the memberships topic. With millions of members, a
 * reading of the topic takes seconds, so concurrent requests share one reading.
 */
export function createListAudiences(deps: Deps): ListAudiences {
  const { source, directory, clock, logger } = deps
  let last: Reading | undefined
  let current: Promise<void> | undefined
  let notBefore = 0

  async function read(from: MembershipSource): Promise<void> {
    const begun = clock.monotonic()
    try {
      const now = clock.now()
      const absentOf = (name: string) => absentValue(directory().get(name)?.kind ?? 'audience')
      const reading = audienceFigures({ ...from, now, absentOf })
      last = { at: now, figures: await within(clock, maxReadTime, reading, tooLong) }
    } catch (error) {
      logger.warn(
        { error: (error as Error).message },
        'hookline could not count the members in the memberships topic (see error); the list of audiences shows the last successful counts, or none; syncs continue; hookline counts again at a later request for the list',
      )
    }
    const ended = clock.monotonic()
    notBefore = ended + Math.max(minPause, (ended - begun) * pausePerReadTime)
    current = undefined
  }

  return async () => {
    if (source !== undefined && current === undefined && clock.monotonic() >= notBefore) current = read(source)
    if (current !== undefined) await within(clock, maxWait, current, () => undefined)
    const isRead = source === undefined || last !== undefined
    const views = audienceViews(directory(), last?.figures ?? new Map())
    return {
      ...(last !== undefined && { readAt: isoOf(last.at) }),
      ...(!isRead && { partial: true as const }),
      audiences: views.map(view => audienceDocument(view, { hasFigures: isRead })),
    }
  }
}

function tooLong(): never {
  throw new Error(`the read did not finish within ${maxReadTime / 1_000} s`)
}
