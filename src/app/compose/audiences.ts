import { createMembershipCodec } from '../../adapters/audience-codecs.ts'
import { createConsumer } from '../../adapters/kafka/consumer.ts'
import { createReader } from '../../adapters/kafka/reader.ts'
import { durationMs } from '../../core/units.ts'
import { createAudiencesService } from '../../services/audiences/service.ts'
import type { Foundation, RunningPart } from './foundation.ts'

/** Nobody waits for a sync in milliseconds. */
const maxWait = durationMs(500)

/** Syncs to identify messages. Resolves when the group has been joined. */
export async function startAudiences(foundation: Foundation): Promise<RunningPart> {
  const { settings, live, lifecycle, metrics, logger, onFatal, clock, topics, kafka, registry } = foundation
  const consumer = createConsumer({
    ...{ kafka, clock, logger, onFatal, maxWait },
    groupId: topics.audiencesGroup,
    topics: [topics.audienceInput],
    onCommit: result => metrics.commits.inc({ group: 'audiences', result }),
    onPositionLost: loss => {
      logger.error(loss, 'inputs gone before they were read: what they said holds only from the next sync on')
      metrics.positionsLost.inc({ topic: loss.topic }, Math.max(0, loss.to - loss.from))
    },
  })
  // There from the start: a rule sees no increase in what appears as more than 0.
  metrics.positionsLost.inc({ topic: topics.audienceInput }, 0)
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
