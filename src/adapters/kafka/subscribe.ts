import type { Consumer } from 'kafkajs'
import { codeOfThrown, topicMissing } from './errors.ts'

/** From the first record on, where nothing is committed. @throws KafkaError `TOPIC_MISSING` */
export async function subscribe(consumer: Consumer, topic: string): Promise<void> {
  try {
    await consumer.subscribe({ topic, fromBeginning: true })
  } catch (error) {
    throw codeOfThrown(error) === 'UNKNOWN_TOPIC_OR_PARTITION' ? topicMissing(topic, error) : error
  }
}
