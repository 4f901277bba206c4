import { stringify } from 'yaml'
import { type AccessNeeds, accessNeeded } from '../../../src/core/doctor/access.ts'
import { liveKeys } from '../../../src/core/settings/differences.ts'
import { delivery } from '../../../src/core/settings/schema.ts'
import { serviceNames } from '../../../src/core/settings/service-names.ts'
import { standingTiers, type TopicSpec, topicConfig, topicNames, topicSpecs } from '../../../src/core/topics.ts'
import { formatDuration } from '../../../src/core/units.ts'
import { jsonText } from '../layout.ts'
import { valuesSchema } from './values-schema.ts'

/** The parts of the chart that follow from something else in the repository. */
export function chartFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['deploy/helm/hookline/values.schema.json', jsonText(valuesSchema())],
    ['deploy/helm/hookline/files/topics.yaml', topicsText()],
    ['deploy/helm/hookline/files/live-keys.yaml', liveKeysText()],
    ['deploy/helm/hookline/files/access.yaml', accessText()],
  ])
}

/** What of the configuration running processes take over, so that pods are not rolled for it. */
const liveKeysText = (): string =>
  // A directory of destinations is destinations.
  `# Made by \`npm run generate\` from src/core/settings/differences.ts.\n${stringify({ keys: [...liveKeys, 'destinationsFrom'] })}`

/** What Strimzi's topics are made of: all that `hookline topics apply` would make, without prefix and sizes. */
function topicsText(): string {
  const prefix = 'p.'
  const own = (config: Readonly<Record<string, string>>) => {
    const { 'min.insync.replicas': _, ...others } = config
    return others
  }
  const specs = topicSpecs({ prefix: 'p', partitions: 1, replicationFactor: 1 }, [], { attemptsTopic: true })
  const isRetry = ({ name }: TopicSpec): boolean => name.startsWith('p.retry.')
  const isAttempts = ({ name }: TopicSpec): boolean => name === 'p.attempts'
  const [retry, attempts] = [specs.find(isRetry), specs.find(isAttempts)]
  const others = specs.filter(spec => !isRetry(spec) && !isAttempts(spec))
  const comment = '# Made by `npm run generate` from src/core/topics.ts.\n'
  return (
    comment +
    stringify({
      topics: others.map(spec => ({ name: spec.name.slice(prefix.length), config: own(topicConfig(spec)) })),
      retry: { config: retry && own(topicConfig(retry)) },
      // Only with delivery.attemptsTopic.
      attempts: { name: 'attempts', config: attempts && own(topicConfig(attempts)) },
      standingTiers: standingTiers.map(formatDuration),
      defaultSchedule: delivery.parse({}).schedule.map(formatDuration),
    })
  )
}

interface Rule {
  readonly type: 'topic' | 'group'
  readonly name: string
  readonly pattern: 'literal' | 'prefix'
  readonly operation: string
  /** What has to be configured for it; undefined: it is needed anyway. */
  readonly when?: string
}

/** What Kafka has to allow each service, without the topics' prefix. */
function accessText(): string {
  const conditions = ['hasOperator', 'hasAttempts', 'hasCanary'] as const
  const none = { hasOperator: false, hasAttempts: false, hasCanary: false }
  const all = serviceNames.map(service => {
    const rulesWith = (has: Partial<AccessNeeds>): readonly Rule[] =>
      accessNeeded({
        ...{ topics: topicNames('p'), tiers: standingTiers, services: new Set([service]), ...none, ...has },
      }).map(ruleOf)
    const always = distinct(rulesWith({}))
    const keys = new Set(always.map(keyOf))
    const more = conditions.flatMap(when =>
      distinct(rulesWith({ [when]: true }))
        .filter(rule => !keys.has(keyOf(rule)))
        .map(rule => ({ ...rule, when })),
    )
    return [service, [...always, ...more]] as const
  })
  return `# Made by \`npm run generate\` from src/core/doctor/access.ts.\n${stringify(Object.fromEntries(all))}`
}

const operations = { read: 'Read', write: 'Write', join: 'Read' } as const

/** Retry topics are named by their beginning: those of an earlier schedule are still read. */
function ruleOf({ to, name }: ReturnType<typeof accessNeeded>[number]): Rule {
  const [, own = ''] = /^p\.(.*)$/.exec(name) ?? []
  const retry = /^retry\./.exec(own)?.[0]
  const type = to === 'join' ? 'group' : 'topic'
  return { type, name: retry ?? own, pattern: retry === undefined ? 'literal' : 'prefix', operation: operations[to] }
}

const keyOf = (rule: Rule): string => JSON.stringify(rule)
const distinct = (rules: readonly Rule[]): readonly Rule[] => [
  ...new Map(rules.map(rule => [keyOf(rule), rule])).values(),
]
