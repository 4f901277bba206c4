import { type Assumptions, defaultAssumptions, type Load } from './model.ts'

/** The options of `npm run capacity`. */
export const loadOptions = {
  events: { usual: '1000', meaning: 'events per second' },
  destinations: { usual: '1', meaning: 'destinations per event' },
  answer: { usual: '200', meaning: 'response time of the endpoints in milliseconds' },
  hosts: {
    usual: '1000',
    meaning: 'different hosts of the endpoints (measured up to 10,000 with undici, 1,000 with got)',
  },
  members: { usual: '0', meaning: 'memberships: members of all audiences, counted once for each destination' },
  'outage-share': {
    usual: '0.1',
    meaning: 'share of the deliveries that go to failing endpoints during an outage (0 to 1)',
  },
  'outage-hours': { usual: '1', meaning: 'duration of the outage in hours' },
  transport: { usual: 'undici', meaning: 'HTTP client: undici or got' },
  utilisation: {
    usual: String(defaultAssumptions.utilisation),
    meaning: 'average share of a CPU core that a process uses (0.01 to 1)',
  },
  replicas: { usual: String(defaultAssumptions.replicas), meaning: 'replicas of each partition' },
  'retention-days': {
    usual: String(defaultAssumptions.retentionDays),
    meaning: 'retention of the events topic in days',
  },
  'broker-mb': {
    usual: String(defaultAssumptions.brokerMb),
    meaning: 'MB per second that one broker can receive, including replication',
  },
} as const

export type LoadOption = keyof typeof loadOptions

export function commandHelp(): string {
  const lines = Object.entries(loadOptions).map(
    ([name, { usual, meaning }]) => `  --${name.padEnd(16)}${meaning} (default ${usual})`,
  )
  return [
    'Usage: npm run capacity -- [options]',
    'Estimates the processes, partitions and brokers of an installation that delivers over HTTPS.',
    'See docs/explanation/capacity.md.',
    '',
    ...lines,
  ].join('\n')
}

/** @throws RangeError naming an option and its valid values */
export function readLoad(given: Readonly<Partial<Record<LoadOption, string | boolean>>>): {
  readonly load: Load
  readonly choices: Assumptions
  readonly transport: string
} {
  const text = (name: LoadOption): string => String(given[name] ?? loadOptions[name].usual)
  const number = (name: LoadOption, { above = 0, most = Number.POSITIVE_INFINITY } = {}): number => {
    const value = Number(text(name))
    if (text(name).trim() === '' || !(value >= above && value <= most && Number.isFinite(value)))
      throw new RangeError(
        `--${name} must be a number from ${above}${most < Number.POSITIVE_INFINITY ? ` to ${most}` : ' on'}, not '${text(name)}'`,
      )
    return value
  }
  const transport = text('transport')
  if (!['undici', 'got'].includes(transport))
    throw new RangeError(`--transport must be undici or got, not '${transport}'`)
  return {
    load: {
      eventsPerSecond: number('events'),
      destinations: number('destinations'),
      answerMs: number('answer', { most: 5_000 }),
      hosts: number('hosts', { above: 1 }),
      members: number('members'),
      outage: { share: number('outage-share', { most: 1 }), hours: number('outage-hours', { most: 168 }) },
    },
    choices: {
      ...defaultAssumptions,
      utilisation: number('utilisation', { above: 0.01, most: 1 }),
      replicas: number('replicas', { above: 1 }),
      retentionDays: number('retention-days'),
      brokerMb: number('broker-mb', { above: 1 }),
    },
    transport,
  }
}
