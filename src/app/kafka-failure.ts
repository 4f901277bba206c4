import { KafkaError } from '../adapters/kafka/kafkajs/errors.ts'
import { CommandFailed } from './command.ts'

/** What is told about a failure, with the command that helps where one does. */
export function withRemedy(error: unknown): unknown {
  const isMissing = error instanceof KafkaError && error.code === 'TOPIC_MISSING'
  if (!isMissing) return error
  return new CommandFailed(`${error.message}: create it with \`hookline topics apply\``, { cause: error })
}
