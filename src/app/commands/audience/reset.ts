import { toEveryPartition } from '../../../services/operator/write-sync-members-and-end.ts'
import { printData } from '../../create-command.ts'
import { choice } from '../../options.ts'
import { type AudienceOptions, type AudienceTask, audienceNamed, inputsOf } from './subcommand-context.ts'

interface Options extends AudienceOptions {
  readonly name: string
  readonly destination?: string
}

/** `hookline audience reset` */
export async function resetAudience(task: AudienceTask, options: Options): Promise<void> {
  const { io } = task
  const audience = audienceNamed(task, options.name)
  const { destination: typed } = options
  // Pass an empty text, for example from an unset shell variable, to `choice`, which rejects it.
  const destination = typed === undefined ? undefined : choice('--destination', typed, [...audience.destinations])
  await toEveryPartition(await inputsOf(task), { kind: 'reset', audience: audience.name, destination })
  const reset = destination === undefined ? [...audience.destinations] : [destination]
  printData(io, options, { audience: audience.name, destinations: reset }, [
    reset.length === 0
      ? `audience ${audience.name} was reset, but has no enabled destination; if you enable one, the next full sync sends all members to it`
      : `audience ${audience.name} was reset; its next full sync sends all members to ${reset.join(', ')}`,
  ])
}
