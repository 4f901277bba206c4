import type { JobWork } from '../../../src/core/jobs/job.ts'
import type { OwnedJob, StopReason } from '../../../src/services/jobs/owned-job.ts'

/** A running job without a jobs topic. `changed` returns the changes of all calls of `advance`. */
export function createMemoryOwnedJob(producer: Pick<OwnedJob['producer'], 'append'>) {
  const stop = new AbortController()
  let changed: JobWork = {}
  const owned = {
    ...{ producer, signal: stop.signal },
    advance(more: JobWork): void {
      changed = { ...changed, ...more }
    },
    async checkpoint(): Promise<void> {},
  }
  return {
    owned: owned as unknown as OwnedJob,
    changed: (): JobWork => changed,
    stop: (reason: StopReason): void => stop.abort(reason),
  }
}
