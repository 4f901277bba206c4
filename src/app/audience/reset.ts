import { toEveryPartition } from '../../services/operator/sync.ts'
import { choice } from '../choice.ts'
import { printData } from '../command.ts'
import { type AudienceOptions, type AudienceTask, audienceNamed } from './task.ts'

interface Options extends AudienceOptions {
  readonly name: string
  readonly destination?: string
}

/** `hookline audience reset` */
export async function resetAudience(task: AudienceTask, options: Options): Promise<void> {
  const { access, topics, io } = task
  const audience = audienceNamed(task, options.name)
  const destination = options.destination && choice('--destination', options.destination, [...audience.destinations])
  const { encode } = await access.inputs()
  const deps = {
    producer: access.producer,
    topic: topics.audienceInput,
    partitions: async () => (await access.positions.ends(topics.audienceInput)).length,
    encodeInput: encode,
  }
  await toEveryPartition(deps, { kind: 'reset', audience: audience.name, destination })
  const reset = destination === undefined ? [...audience.destinations] : [destination]
  printData(io, options, { audience: audience.name, destinations: reset }, [
    `the next sync of ${audience.name} tells everything to ${reset.join(', ') || 'nobody: no enabled destination gets it'}`,
  ])
}
