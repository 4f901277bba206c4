import type { AudienceDirectory } from '../../core/audience/configured-audiences.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
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
 * Returns false when the input may be handled now. Otherwise the partition is paused, and `proceed`
 * is called later.
 */
export type WaitForAudience = (
  input: AudienceInput,
  record: LogRecord,
  processor: PartitionProcessor,
  proceed: () => void,
) => boolean

/**
 * Makes an input for an unknown audience wait up to two minutes, because the process that wrote the
 * input may have got the configuration of the audience earlier than this process.
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
        'an audience (see "audience") is not in the configuration of this process; this partition of the audience input topic waits up to two minutes for the audience, then hookline ignores the records of the audience: give all processes the same configuration, unless you just added or removed the audience',
      )
    check()
    return true
  }
}
