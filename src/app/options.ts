import { type Command, Option } from 'commander'
import { textOf } from '../core/message/identifiers.ts'
import { nearestName } from '../core/settings/advice.ts'
import { type ServiceName, serviceNames } from '../core/settings/service-names.ts'
import { UsageError } from './command.ts'

/** The one of `names` that was typed for an option. @throws UsageError with the nearest name, or all of them. */
export function choice<Name extends string>(option: string, typed: string, names: readonly Name[]): Name {
  const found = names.find(name => name === typed)
  if (found !== undefined) return found
  const near = nearestName(typed, names)
  const advice = near === undefined ? `one of ${names.join(', ')}` : `did you mean ${near}?`
  throw new UsageError(`${option}: there is no '${typed}' (${advice})`)
}

/** An option whose value is one of a closed set, which the help shows. */
export function closedOption(flag: string, description: string, names: readonly string[]): Option {
  return new Option(`${flag} <${flag.slice(2)}>`, description)
    .choices(names)
    .argParser(text => choice(flag, text, names))
}

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

/** The values of `--user`, each once. @throws UsageError for an empty one. */
export function userIdsOf(typed: readonly string[]): readonly string[] {
  const ids = typed.map(textOf)
  if (ids.every(id => id !== undefined)) return [...new Set(ids)]
  throw new UsageError('--user must not be empty')
}
