import { createMembershipCodec } from '../../../src/adapters/avro/audience-codecs.ts'
import { createRegistry } from '../../../src/adapters/avro/schema-registry.ts'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import { membershipKey, toMembershipRecord } from '../../../src/core/audience/membership-and-watermark-records.ts'
import { newSyncId } from '../../../src/core/audience/sync-id.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import type { Installation } from './installation-topics.ts'
import type { Stage } from './test-bed.ts'

const mostWaiting = 20_000

export const benchAudience = 'Shoppers'
export const benchDestination = 'crm'
/** A user id of 36 characters, the usual length. */
export const userOf = (member: number): string => `6f9619ff-8b86-d011-b42d-${String(member).padStart(12, '0')}`

/**
 * Fills the memberships topic with `count` members, as after a sync whose changes were all
 * delivered.
 */
export async function fillMemberships(
  stage: Stage,
  { topics, partitions }: Installation,
  count: number,
): Promise<void> {
  const registry = createRegistry({ url: stage.registryUrl, auth: undefined })
  const codec = await createMembershipCodec({ registry, topic: topics.memberships, clock })
  const kafka = createKafka({ brokers: stage.brokers, clientId: 'bench', tls: undefined, sasl: undefined }, silent)
  const producer = createProducer({ kafka, clock, logger: silent })
  const syncId = newSyncId(clock.now(), 'bench')
  const yes = 'true' as JsonText
  const about = {
    desired: yes,
    acknowledged: yes,
    inFlight: undefined,
    version: syncId + 1,
    syncId,
    unconfirmed: undefined,
  }
  let failure: Error | undefined
  for (let member = 0; member < count; member++) {
    const userId = userOf(member)
    const key = Buffer.from(membershipKey({ audience: benchAudience, userId, destination: benchDestination }))
    const value = codec.encode(toMembershipRecord({ ...about, position: member }))
    const partition = partitionFor(Buffer.from(userId), partitions)
    producer.append(topics.memberships, { key, value, headers: {}, partition }, error => {
      failure ??= error
    })
    if (member % mostWaiting === 0) await producer.flush()
  }
  await producer.stop()
  if (failure !== undefined) throw new Error(`cannot write members: ${failure.message}`, { cause: failure })
}
