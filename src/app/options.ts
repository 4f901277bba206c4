import { type Command, Option } from 'commander'
import { textOf } from '../core/message/identifiers.ts'
import { nearestName } from '../core/settings/advice.ts'
import { type ServiceName, serviceNames } from '../core/settings/services.ts'
import { UsageError } from './command.ts'

/**
 * Returns the value of an option as one of `names`.
 * @throws UsageError that suggests the nearest name, or lists all names
 */
export function choice<Name extends string>(option: string, typed: string, names: readonly Name[]): Name {
  const found = names.find(name => name === typed)
  if (found !== undefined) return found
  const near = nearestName(typed, names)
  const advice = near === undefined ? `possible: ${names.join(', ')}` : `did you mean ${near}?`
  throw new UsageError(`${option}: unknown value '${typed}' (${advice})`)
}

/** Creates an option with a fixed set of values, which the help text lists. */
export function closedOption(flag: string, description: string, names: readonly string[]): Option {
  return new Option(`${flag} <${flag.slice(2)}>`, description)
    .choices(names)
    .argParser(text => choice(flag, text, names))
}

/** Adds `--services`: a list of service names. The default is all services. */
export function withServicesOption(command: Command, meaning: string): Command {
  return command.option(
    '--services <list>',
    `${meaning}, separated by commas: ${serviceNames.join(', ')} (default: all)`,
    parse,
  )
}

function parse(text: string): ReadonlySet<ServiceName> {
  const requested = text.split(',').map(each => {
    const name = serviceNames.find(known => known === each.trim())
    if (name === undefined)
      throw new UsageError(`--services: unknown value '${each}' (possible: ${serviceNames.join(', ')})`)
    return name
  })
  return new Set(requested)
}

/** The distinct values of `--user`. @throws UsageError for an empty value */
export function userIdsOf(typed: readonly string[]): readonly string[] {
  const ids = typed.map(textOf)
  if (ids.every(id => id !== undefined)) return [...new Set(ids)]
  throw new UsageError('--user must not be empty')
}
