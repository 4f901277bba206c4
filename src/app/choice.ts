import { Option } from 'commander'
import { nearestName } from '../core/settings/nearest.ts'
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
