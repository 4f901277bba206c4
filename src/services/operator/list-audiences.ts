import { type AudienceDirectory, absentValue } from '../../core/audience/configured-audiences.ts'
import { isoOf } from '../../core/message/timestamp.ts'
import {
  type AudienceFigures,
  audienceDocument,
  audienceViews,
  type ListAudiences,
} from '../../core/operator/audience-view.ts'
import type { Clock, Logger, TopicReader } from '../../core/ports.ts'
import { durationMs, type EpochMs } from '../../core/time.ts'
import { within } from '../../core/within-time-limit.ts'
import { audienceFigures } from './audience-figures-and-drift.ts'
import type { MembershipSource } from './visit-all-memberships.ts'

/**
 * Maximum wait of a request for the current reading of the memberships topic. After this time, the
 * request gets the figures of the previous reading.
 */
const maxWait = durationMs(1_500)
/**
 * Time limit of the first reading. After each reading that reaches its limit, the limit doubles, up
 * to `maxReadTime`.
 */
const firstReadTime = durationMs(120_000)
const maxReadTime = durationMs(3_600_000)
/** Minimum time between two readings of the memberships topic. */
const minPause = durationMs(10_000)
/**
 * Minimum pause after a reading, as a multiple of the reading's duration. With 4, readings take at
 * most a fifth of the time.
 */
const pausePerReadTime = 4

interface Deps {
  /** `undefined` when the memberships topic does not exist, because no audience was ever synced. */
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
 * Creates a function that lists the audiences. Concurrent calls share one reading of the
 * memberships topic, which can take seconds.
 */
export function createListAudiences(deps: Deps): ListAudiences {
  const { source, directory, clock, logger } = deps
  let last: Reading | undefined
  let current: Promise<void> | undefined
  let notBefore = 0
  let readTime = firstReadTime

  async function read(from: MembershipSource): Promise<void> {
    const begun = clock.monotonic()
    let isLate = false
    const cancel = (): never => {
      isLate = true
      const message = `reading the topic took longer than ${readTime / 1_000} s`
      readTime = durationMs(Math.min(2 * readTime, maxReadTime))
      throw new Error(`${message}; the next read has a time limit of ${readTime / 1_000} s`)
    }
    const reader: TopicReader = {
      async readToEnd(topic, onRecord) {
        const count = await from.reader.readToEnd(topic, onRecord, { mustStop: () => isLate })
        if (isLate) throw new Error('the read was cancelled')
        return count
      },
    }
    try {
      const now = clock.now()
      const absentValueOf = (name: string) => absentValue(directory().get(name)?.kind ?? 'audience')
      const reading = audienceFigures({ ...from, reader, now, absentValueOf })
      last = { at: now, figures: await within(clock, readTime, reading, cancel) }
    } catch (error) {
      logger.warn(
        { error: (error as Error).message },
        'hookline could not count the audience members in the memberships topic (see "error"); the list of audiences shows old counts or none; syncs are not affected; hookline tries again when a client requests the list later',
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
