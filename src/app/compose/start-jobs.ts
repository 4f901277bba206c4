import { partitionCount } from '../../adapters/kafka/log/topic-admin.ts'
import { createFollower } from '../../adapters/kafka/log/topic-follower.ts'
import { createReader } from '../../adapters/kafka/log/topic-reader.ts'
import { retryPolicyOf } from '../../core/delivery/retry-tier.ts'
import { createRouting } from '../../core/delivery/route.ts'
import type { JobsApi } from '../../core/jobs/jobs-api.ts'
import type { Event } from '../../core/message/event.ts'
import { epochMs } from '../../core/time.ts'
import { createJobRunner, type JobRunner } from '../../services/jobs/job-runner.ts'
import { createJobStore } from '../../services/jobs/job-store.ts'
import { createManageJobs } from '../../services/jobs/manage-jobs.ts'
import { runReplay } from '../../services/jobs/run-replay.ts'
import { createSkipPacer, runResend } from '../../services/jobs/run-resend.ts'
import { awaitKafka } from './await-kafka.ts'
import type { SharedDependencies } from './shared-dependencies.ts'

/** Follows the jobs topic and starts the job runner. */
export async function startJobs(
  shared: SharedDependencies,
): Promise<Pick<JobRunner, 'refreshGauges'> & { readonly api: JobsApi }> {
  const { settings, live, lifecycle, kafka, topics, clock, logger, producer, metrics, suppressions } = shared
  const topic = topics.jobs
  const follower = createFollower({ kafka, topic, clock, logger })
  const store = createJobStore({ follower, producer, topic, clock, logger })
  await lifecycle.start({ name: 'jobs topic', start: () => awaitKafka(store.start, shared), stop: store.stop })
  const reader = createReader({ kafka, clock, logger })
  const policy = retryPolicyOf(settings.delivery)
  const routing = () => live().routing
  const isStopped = ({ sourceId, receivedAt, message: { userId, type } }: Event): boolean =>
    suppressions.stops({ userId, sourceId, receivedAt: epochMs(receivedAt), type }, clock.now()) !== undefined
  const replayDeps = {
    ...{ reader, clock, events: async () => shared.codec, inputs: async () => shared.inputCodec },
    countPartitions: (topic: string) => partitionCount(kafka, topic),
    context: () => ({ topics, policy, routing: routing() }),
  }
  const pacedSkip = createSkipPacer(clock)
  const resendDeps = { reader, clock, logger, codec: shared.codec, topics, policy, routing, isStopped, pacedSkip }
  const runner = createJobRunner({
    ...{ store, producer, clock, metrics, logger },
    replay: (job, owned) => runReplay(replayDeps, job, owned),
    resend: (job, owned) => runResend(resendDeps, job, owned),
  })
  await lifecycle.start({ name: 'job runner', start: async () => runner.start(), stop: runner.stop })
  // `live()` may lack the changes of the last half second. A new job may be for a destination that
  // one of these changes has created or changed.
  const latestRouting = () => createRouting(shared.merged.latest().settings)
  return {
    api: createManageJobs({ store, offsets: reader, topics, routing: latestRouting, clock }),
    refreshGauges: runner.refreshGauges,
  }
}
