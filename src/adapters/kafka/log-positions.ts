import type { Admin } from 'kafkajs'
import type { LogPositions } from '../../core/ports.ts'
import type { KafkaClient } from './client.ts'
import { codeOfThrown, kafkaError, topicMissing } from './errors.ts'

/** Asks over a connection of its own each time: it is for commands, which ask seldom. Rejects with KafkaErrors. */
export function createLogPositions(kafka: KafkaClient): LogPositions {
  async function ask<T>(topic: string, question: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = kafka.admin()
    try {
      await admin.connect()
      return await question(admin)
    } catch (error) {
      if (codeOfThrown(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw topicMissing(topic, error)
      throw kafkaError(`positions in ${topic} cannot be read`, error)
    } finally {
      await admin.disconnect()
    }
  }

  return {
    ends: topic => ask(topic, async admin => byPartition(await admin.fetchTopicOffsets(topic))),
    committed: (groupId, topic) =>
      ask(topic, async admin => {
        const [answer] = await admin.fetchOffsets({ groupId, topics: [topic] })
        return byPartition(answer?.partitions ?? [])
      }),
  }
}

/** kafkajs answers in no particular order. */
const byPartition = (offsets: readonly { readonly partition: number; readonly offset: string }[]): readonly number[] =>
  offsets.toSorted((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset))
