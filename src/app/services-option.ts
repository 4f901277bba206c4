import type { Command } from 'commander'
import { type ServiceName, serviceNames } from '../core/services.ts'
import { UsageError } from './command.ts'

/** `--services`: a set of names, all of them unless given. */
export function withServicesOption(command: Command, meaning: string): Command {
  return command.option('--services <list>', `${meaning}, separated by commas (all): ${serviceNames.join(', ')}`, parse)
}

function parse(text: string): ReadonlySet<ServiceName> {
  const asked = text.split(',').map(each => {
    const name = serviceNames.find(known => known === each.trim())
    if (name === undefined) throw new UsageError(`--services: '${each}' is none of ${serviceNames.join(', ')}`)
    return name
  })
  return new Set(asked)
}
