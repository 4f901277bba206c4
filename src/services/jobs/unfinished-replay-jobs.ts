import { decodeJob, jobKeyOf, jobsPartition, type ReplayJob } from '../../core/jobs/job.ts'
import { JobLog } from '../../core/jobs/jobs-from-topic.ts'
import type { Clock, TopicReader } from '../../core/ports.ts'
import { isTopicMissing } from '../operator/is-kafka-error.ts'

/**
 * Maximum age, in ms, of an active job's last record. The job writes a record every second, but a
 * short outage may delay it.
 */
const maxRecordAgeMs = 60_000

interface OpenReplay {
  readonly job: ReplayJob
  /** Whether an operator service runs the job now, or will soon. */
  readonly isActive: boolean
}

interface Deps {
  readonly reader: TopicReader
  readonly clock: Pick<Clock, 'now'>
  readonly topic: string
}

/**
 * Resolves with the unfinished replay jobs, except dry runs; with none if the jobs topic does not
 * exist or this process may not read it.
 */
export async function openReplays({ reader, clock, topic }: Deps): Promise<readonly OpenReplay[]> {
  const log = new JobLog()
  const writtenAt = new Map<string, number>()
  try {
    await reader.readToEnd(topic, ({ partition, value, timestamp }) => {
      const job = decodeJob(value?.toString() ?? '')
      if (partition !== jobsPartition || job === undefined) return
      log.apply(job)
      writtenAt.set(jobKeyOf(job), timestamp)
    })
  } catch (error) {
    if (isTopicMissing(error) || isForbidden(error)) return []
    throw error
  }
  const oldest = clock.now() - maxRecordAgeMs
  return [...log.open]
    .filter(job => job.kind === 'replay' && job.isDryRun !== true)
    .map(job => ({
      job: job as ReplayJob,
      isActive: (writtenAt.get(jobKeyOf(job)) ?? 0) >= oldest,
    }))
}

const isForbidden = (error: unknown): boolean =>
  (error as { readonly code?: unknown }).code === 'TOPIC_AUTHORIZATION_FAILED'
