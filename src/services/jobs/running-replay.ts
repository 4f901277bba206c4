import { decodeJob, jobsPartition, type ReplayJob } from '../../core/jobs/job.ts'
import { JobLog } from '../../core/jobs/job-log.ts'
import type { Clock, TopicReader } from '../../core/ports.ts'
import { epochMs } from '../../core/time.ts'
import { isTopicMissing } from '../operator/is-kafka-error.ts'

/**
 * How far back the jobs topic is read, in ms. The process of a running job writes a record at least
 * every second. The rest of the minute is for clocks that differ, and for short outages.
 */
const readBackMs = 60_000

interface Deps {
  readonly reader: TopicReader
  readonly clock: Pick<Clock, 'now'>
  /** The name of the jobs topic. */
  readonly topic: string
}

/**
 * Resolves with a replay job that copies dead letters now, according to the last minute of the jobs
 * topic. Resolves with `undefined` if no job does, if the topic does not exist, or if this process
 * has no right to read it.
 */
export async function runningReplay({ reader, clock, topic }: Deps): Promise<ReplayJob | undefined> {
  const log = new JobLog()
  try {
    await reader.readToEnd(
      topic,
      ({ partition, value }) => {
        const job = decodeJob(value?.toString() ?? '')
        if (partition === jobsPartition && job !== undefined) log.apply(job)
      },
      { since: epochMs(clock.now() - readBackMs) },
    )
  } catch (error) {
    if (isTopicMissing(error) || isForbidden(error)) return undefined
    throw error
  }
  for (const job of log.open) if (job.kind === 'replay' && job.state === 'running' && job.isDryRun !== true) return job
  return undefined
}

const isForbidden = (error: unknown): boolean =>
  (error as { readonly code?: unknown }).code === 'TOPIC_AUTHORIZATION_FAILED'
