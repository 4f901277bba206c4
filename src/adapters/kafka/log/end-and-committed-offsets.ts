import type { Admin } from 'kafkajs'
import type { LogPositions, Position } from '../../../core/ports.ts'
import type { KafkaClient } from '../kafkajs/client.ts'
import { coordinatorErrors, errorCodeOf, leaderErrors, toKafkaError, topicMissing } from '../kafkajs/errors.ts'
import { retryOn } from './retry-on-error-codes.ts'

/**
 * Creates a client that reads end offsets and committed offsets, with a connection for each call.
 * All methods reject with KafkaErrors.
 */
export function createLogPositions(kafka: KafkaClient): LogPositions {
  async function ask<T>(topic: string, question: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = kafka.admin()
    try {
      await admin.connect()
      return await question(admin)
    } catch (error) {
      if (errorCodeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw topicMissing(topic, error)
      throw toKafkaError(`cannot read the offsets of topic ${topic}`, error)
    } finally {
      await admin.disconnect()
    }
  }

  return {
    ends: topic =>
      retryOn(leaderErrors, () => ask(topic, async admin => byPartition(await admin.fetchTopicOffsets(topic)))),
    committed: (groupId, topic) =>
      ask(topic, async admin => {
        const [answer] = await fetchOffsets(admin, { groupId, topics: [topic] })
        return byPartition(answer?.partitions ?? [])
      }),
  }
}

/**
 * Reads all committed offsets of a group, with their metadata.
 * @throws KafkaError
 */
export async function readCommits(kafka: KafkaClient, groupId: string): Promise<readonly Position[]> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    const topics = await fetchOffsets(admin, { groupId })
    return topics.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset, metadata }) => ({
        ...{ topic, partition, offset: Number(offset), metadata: metadata ?? '' },
      })),
    )
  } catch (error) {
    throw toKafkaError(`cannot read the committed offsets of group ${groupId}`, error)
  } finally {
    await admin.disconnect()
  }
}

/** Fetches committed offsets. Retries while the coordinator starts, because kafkajs does not. */
const fetchOffsets = (admin: Admin, request: Parameters<Admin['fetchOffsets']>[0]): ReturnType<Admin['fetchOffsets']> =>
  retryOn(coordinatorErrors, () => admin.fetchOffsets(request))

/** Sorts the offsets by partition. */
const byPartition = (offsets: readonly { readonly partition: number; readonly offset: string }[]): readonly number[] =>
  offsets.toSorted((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset))
