import { createRouting } from '../../../src/core/delivery/route.ts'
import type { JobsApi } from '../../../src/core/jobs/jobs-api.ts'
import type { Clock, OffsetSpan } from '../../../src/core/ports.ts'
import { topicNames } from '../../../src/core/topics.ts'
import { createJobStore, type JobStore } from '../../../src/services/jobs/job-store.ts'
import { createManageJobs } from '../../../src/services/jobs/manage-jobs.ts'
import { MemoryLog } from '../kafka/memory-log.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { answered, fileSettings } from './memory-objects.ts'

export const topics = topicNames('hookline')

export interface MemoryJobs {
  readonly api: JobsApi
  readonly store: JobStore
  readonly log: MemoryLog
  spans: readonly OffsetSpan[]
}

/**
 * The jobs of one operator process, which does not run them. The log acknowledges writes
 * automatically.
 */
export async function memoryJobs(clock: Clock, log = new MemoryLog(clock)): Promise<MemoryJobs> {
  const follower = log.follower(topics.jobs)
  const store = createJobStore({ follower, producer: log.producer(), topic: topics.jobs, clock, logger: silent })
  await store.start()
  const routing = createRouting(fileSettings())
  const jobs = {
    ...{ store, log },
    spans: [{ topic: topics.events, partition: 0, beginning: 0, from: 10, to: 40 }] as readonly OffsetSpan[],
  }
  const offsets = { spans: async () => jobs.spans }
  const api = createManageJobs({ store, offsets, topics, routing: () => routing, clock })
  return Object.assign(jobs, {
    api: {
      ...api,
      create: (request: Parameters<JobsApi['create']>[0]) => answered(log, api.create(request)),
      cancel: (...words: Parameters<JobsApi['cancel']>) => answered(log, api.cancel(...words)),
    },
  })
}
