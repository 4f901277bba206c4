import { createMembershipCodec } from '../../adapters/avro/audience-codecs.ts'
import { createReader } from '../../adapters/kafka/log/topic-reader.ts'
import { durationMs } from '../../core/time.ts'
import { createAudiencesService } from '../../services/audiences/audiences.ts'
import { awaitSetup } from './await-setup.ts'
import { startEndOffsetReader } from './create-read-end-offsets.ts'
import { createGroupConsumer, type SharedDependencies, type StartedService } from './shared-dependencies.ts'

/**
 * Maximum time for which a fetch waits for records. A sync does not need a latency of milliseconds.
 */
const maxWait = durationMs(500)

/** Starts the audiences service. Resolves when the consumer has joined its group. */
export async function startAudiences(shared: SharedDependencies): Promise<StartedService> {
  const { live, lifecycle, metrics, logger, clock, topics, kafka, registry } = shared
  const consumer = createGroupConsumer(shared, {
    group: 'audiences',
    groupId: topics.audiencesGroup,
    topics: [topics.audienceInput],
    maxWait,
    onLoss:
      'Kafka deleted records of audience syncs, resets, user deletions or delivery results before Hookline read them, so destinations may have wrong audience members: repeat the lost operations as the runbook HooklineRecordsLost describes',
  })
  // Without a series at 0, Prometheus does not see the first increase.
  for (const topic of [topics.events, topics.memberships, topics.deadLetter]) metrics.produceFailures.inc({ topic }, 0)
  const audiences = createAudiencesService({
    ...shared,
    consumer,
    reader: createReader({ kafka, clock, logger }),
    readEndOffsets: await startEndOffsetReader(shared),
    codecs: {
      events: shared.codec,
      inputs: shared.inputCodec,
      memberships: await awaitSetup(
        () => createMembershipCodec({ registry, topic: topics.memberships, clock }),
        shared,
      ),
    },
    directory: () => live().audiences,
    emitPerSecond: () => live().emitPerSecond,
  })
  await lifecycle.start({ name: 'audiences', start: audiences.start, stop: audiences.stop })
  return audiences
}
