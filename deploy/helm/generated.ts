import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { liveKeys } from '../../src/core/settings/change.ts'
import { delivery } from '../../src/core/settings/schema.ts'
import { standingTiers, type TopicSpec, topicConfig, topicSpecs } from '../../src/core/topics.ts'
import { formatDuration } from '../../src/core/units.ts'
import { dashboardFiles } from '../grafana/all.ts'
import { renderText } from './render.ts'
import { valuesSchema } from './values-schema.ts'

/* What is made and committed: `npm run generate` writes the parts of the chart, `npm run manifests` its rendering. Paths are those in the repository. */

const root = join(import.meta.dirname, '../..')

/** The parts of the chart that follow from something else in the repository. */
export function chartFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['deploy/helm/hookline/values.schema.json', `${JSON.stringify(valuesSchema(), null, 2)}\n`],
    ['deploy/helm/hookline/files/topics.yaml', topicsText()],
    ['deploy/helm/hookline/files/live-keys.yaml', liveKeysText()],
    // A chart can carry only what lies in its own folder.
    ...rules(),
    ...[...dashboardFiles()].map(([file, text]) => [`deploy/helm/hookline/files/dashboards/${file}`, text] as const),
  ])
}

/** The chart with its default values, as plain manifests. @throws with Helm's own words */
export async function manifestFiles(helm: string): Promise<ReadonlyMap<string, string>> {
  const rendered = await renderText(helm)
  const head =
    '# The chart deploy/helm/hookline with its default values. Made by `npm run manifests`; change the chart.\n'
  return new Map([...rendered].map(([template, text]) => [`deploy/kubernetes/${template}`, head + text]))
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

function rules(): [string, string][] {
  const from = join(root, 'deploy/prometheus')
  const names = readdirSync(from).filter(name => name.endsWith('.yaml'))
  return names.sort().map(name => [`deploy/helm/hookline/files/rules/${name}`, readFileSync(join(from, name), 'utf8')])
}
