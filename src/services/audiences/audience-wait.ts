import type { AudienceDirectory } from '../../core/audience/audience-directory.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock, Logger, LogRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

const { audienceCheckEvery: checkEvery, unknownAudience: longestWait } = flowLimits.admission

interface Deps {
  readonly directory: () => AudienceDirectory
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Pauses a partition at an input, and calls `proceed` when the input may be handled. Returns false,
 * and does nothing, if it may be handled now.
 */
export type WaitForAudience = (
  input: AudienceInput,
  record: LogRecord,
  processor: PartitionProcessor,
  proceed: () => void,
) => boolean

/**
 * Creates the wait for an audience that another process has in its configuration, but this process
 * does not have yet. Without the wait, the first sync of a new audience would lose the lines that
 * this process reads. The wait ends when the record has reached an age of `unknownAudience`, so an
 * audience that was removed pauses a partition only once.
 */
export function createAudienceWait({ directory, clock, logger }: Deps): WaitForAudience {
  return (input, record, processor, proceed) => {
    if (input.kind !== 'observed' && input.kind !== 'sync_ended') return false
    const { audience } = input
    const isKnown = (): boolean => directory().has(audience)
    const wait = Math.min(longestWait, longestWait - (clock.now() - record.timestamp))
    if (isKnown() || wait <= 0) return false
    const until = clock.monotonic() + wait
    const check = (): void => {
      if (processor.revoked) return
      const left = isKnown() ? 0 : until - clock.monotonic()
      if (left > 0) return void clock.after(durationMs(Math.min(checkEvery, Math.ceil(left))), check)
      proceed()
      processor.resume('audience')
    }
    processor.pause('audience')
    if (wait > checkEvery)
      logger.warn(
        { audience, partition: record.partition },
        'the configuration of this process has no audience with this name (see "audience"), so the records of this partition of the audience input topic wait for up to two minutes: if the audience is new, do nothing; otherwise hookline ignores the records of this audience after the wait',
      )
    check()
    return true
  }
}
