import { lifecycleHasTopic } from './check-lifecycle-has-config-topic.ts'
import { policiesWithinLimits } from './check-policies.ts'
import { distinctListeners, scheduleFitsWindow } from './check-schedule-and-listeners.ts'
import { proxyCredentials, secretsGivenOnce } from './check-secrets-given-once-and-in-pairs.ts'
import { distinctProperties, knownNames, uniqueNames } from './check-unique-and-known-names.ts'
import { uniqueOperatorKeys } from './check-unique-write-and-operator-keys.ts'
import type { Rule, WellFormed } from './configuration-rule.ts'
import { entryToSettings } from './configuration-to-settings.ts'
import type { EntryContext } from './entries-as-written.ts'
import { namedFiles } from './named-files-and-content-problems.ts'
import { destination, source } from './schema-of-source-and-destination.ts'
import type { Destination, Source } from './settings.ts'
import { configurationRules } from './validate.ts'

/**
 * Rules that compare several sources or destinations, or that need other parts of the
 * configuration. They are not checked for a single source or destination.
 */
const rulesForWholeConfiguration: readonly Rule[] = [
  uniqueNames,
  distinctProperties,
  knownNames,
  proxyCredentials,
  uniqueOperatorKeys,
  scheduleFitsWindow,
  policiesWithinLimits,
  lifecycleHasTopic,
  distinctListeners,
]
const entryRules = configurationRules.filter(rule => !rulesForWholeConfiguration.includes(rule))

/**
 * Returns the source in `entry`, for example from the config topic; `undefined` if it has a problem
 * or names a file. This function is much faster than a check of the whole configuration.
 */
export function validSource(entry: object, context: EntryContext): Source | undefined {
  const { data } = source.safeParse(entry)
  return data !== undefined && isValid({ sources: [entry] }, context) ? entryToSettings.sources(data) : undefined
}

/**
 * Returns the destination in `entry`; `undefined` if it has a problem or names a file. The sources
 * of the destination need not exist.
 */
export function validDestination(entry: object, context: EntryContext): Destination | undefined {
  const { data } = destination.safeParse(entry)
  const isDistinct = new Set(data?.sources).size === data?.sources.length
  return data !== undefined && isDistinct && isValid({ destinations: [entry] }, context)
    ? entryToSettings.destinations(data)
    : undefined
}

function isValid(entries: object, context: EntryContext): boolean {
  if (namedFiles(entries as WellFormed).length > 0) return false
  const config = { ...context, ...entries } as WellFormed
  const unread = new Map(namedFiles(config).map(({ name }) => [name, { kind: 'not_needed' }] as const))
  return [...entryRules, secretsGivenOnce(config)].every(rule => rule(config, unread).length === 0)
}
