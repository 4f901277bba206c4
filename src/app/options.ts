import { type Command, Option } from 'commander'
import { textOf } from '../core/message/message-ids-and-required-identifiers.ts'
import { parseTimestamp } from '../core/message/timestamp.ts'
import { nearestName } from '../core/settings/key-and-name-hints.ts'
import { type ServiceName, serviceNames } from '../core/settings/service-names.ts'
import type { Settings } from '../core/settings/settings.ts'
import { type EpochMs, epochMs, parseDuration } from '../core/time.ts'
import { UsageError } from './create-command.ts'

/**
 * Returns the value of an option as one of `names`. `note` is appended to the error.
 * @throws UsageError
 */
export function choice<Name extends string>(option: string, typed: string, names: readonly Name[], note = ''): Name {
  const found = names.find(name => name === typed)
  if (found !== undefined) return found
  const near = nearestName(typed, names)
  const possible =
    names.length === 0 ? `the configuration has no entry that ${option} can select` : `possible: ${names.join(', ')}`
  const advice = near === undefined ? possible : `did you mean ${near}?`
  throw new UsageError(`${option}: unknown value '${typed}' (${advice}${note})`)
}

/**
 * The `note` of `choice` for a command that reads only the configuration file. An id that is
 * unknown to this command may exist in the config topic.
 */
export const onlyFileNote = ({ configTopic }: Pick<Settings, 'configTopic'>): string =>
  configTopic === true
    ? '; this command does not know destinations and sources that were created through the operator API'
    : ''

/** Returns a parser for integers >= `minimum`. @throws UsageError */
export function wholeNumber(option: string, minimum: number): (text: string) => number {
  return text => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < minimum)
      throw new UsageError(`${option} must be an integer >= ${minimum}, not '${text}'`)
    return value
  }
}

/** Returns a parser for a time: ISO 8601, or a duration before `now`. @throws UsageError */
export function timeOf(option: string, now: EpochMs): (text: string) => EpochMs {
  return text => {
    const ago = parseDuration(text)
    const time = ago === undefined ? parseTimestamp(text) : epochMs(now - ago)
    if (time !== undefined) return time
    throw new UsageError(
      `${option} must be a time in ISO 8601 (such as 2026-03-01T10:00:00Z) or a duration before now (such as 2h), not '${text}'`,
    )
  }
}

/** Creates an option with a fixed set of values, which the help text lists. */
export function closedOption(flag: string, description: string, names: readonly string[]): Option {
  return new Option(`${flag} <${flag.slice(2)}>`, description)
    .choices(names)
    .argParser(text => choice(flag, text, names))
}

/** Adds `--config`. Its default is HOOKLINE_CONFIG. */
export function withConfigOption(command: Command): Command {
  return command.option('-c, --config <file>', 'configuration file (default: the value of HOOKLINE_CONFIG)')
}

/** Adds `--json`: one JSON document on stdout instead of text. */
export function withJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON instead of text')
}

/** Adds `--services`: a list of service names. Defaults to all. */
export function withServicesOption(command: Command, meaning: string): Command {
  return command.option(
    '--services <list>',
    `${meaning} (comma-separated list of ${serviceNames.join(', ')}; default: all)`,
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
  throw new UsageError('--user: the id of a user must not be empty')
}
