import { createMembershipCodec } from '../../adapters/audience-codecs.ts'
import { createReader } from '../../adapters/kafka/log/reader.ts'
import { durationMs } from '../../core/units.ts'
import { createAudiencesService } from '../../services/audiences/service.ts'
import type { Foundation, RunningPart } from './foundation.ts'
import { createGroupConsumer } from './group-consumer.ts'

/** Nobody waits for a sync in milliseconds. */
const maxWait = durationMs(500)

/** Syncs to identify messages. Resolves when the group has been joined. */
export async function startAudiences(foundation: Foundation): Promise<RunningPart> {
  const { settings, live, lifecycle, metrics, logger, clock, topics, kafka, registry } = foundation
  const consumer = createGroupConsumer(foundation, {
    group: 'audiences',
    groupId: topics.audiencesGroup,
    topics: [topics.audienceInput],
    maxWait,
    onLoss: 'inputs gone before they were read: what they said holds only from the next sync on',
  })
  // Every series exists from the start: Prometheus sees no increase in a series that begins above 0.
  for (const topic of [topics.events, topics.memberships, topics.deadLetter]) metrics.produceFailures.inc({ topic }, 0)
  const audiences = createAudiencesService({
    ...foundation,
    consumer,
    reader: createReader({ kafka, clock, logger }),
    codecs: {
      events: foundation.codec,
      inputs: foundation.inputCodec,
      memberships: await createMembershipCodec({ registry, topic: topics.memberships, clock }),
    },
    window: settings.delivery.window,
    directory: () => live().audiences,
    emitPerSecond: () => live().emitPerSecond,
    stops: foundation.marks.stops,
  })
  await lifecycle.start({ name: 'audiences', start: audiences.start, stop: audiences.stop })
  return audiences
}
