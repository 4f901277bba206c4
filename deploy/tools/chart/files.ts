import { stringify } from 'yaml'
import { liveKeys } from '../../../src/core/settings/change.ts'
import { delivery } from '../../../src/core/settings/schema.ts'
import { standingTiers, type TopicSpec, topicConfig, topicSpecs } from '../../../src/core/topics.ts'
import { formatDuration } from '../../../src/core/units.ts'
import { jsonText } from '../layout.ts'
import { valuesSchema } from './values-schema.ts'

/** The parts of the chart that follow from something else in the repository. */
export function chartFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['deploy/helm/hookline/values.schema.json', jsonText(valuesSchema())],
    ['deploy/helm/hookline/files/topics.yaml', topicsText()],
    ['deploy/helm/hookline/files/live-keys.yaml', liveKeysText()],
  ])
}

/** What of the configuration running processes take over, so that pods are not rolled for it. */
const liveKeysText = (): string =>
  // A directory of destinations is destinations.
  `# Made by \`npm run generate\` from src/core/settings/change.ts.\n${stringify({ keys: [...liveKeys, 'destinationsFrom'] })}`

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
