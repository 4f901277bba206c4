import { type Choices, type Load, usualChoices } from './model.ts'

/** The options of `npm run capacity`, each with what it stands at and what it means. */
export const loadOptions = {
  events: { usual: '1000', meaning: 'events a second' },
  destinations: { usual: '1', meaning: 'destinations that each event goes to' },
  answer: { usual: '200', meaning: 'milliseconds until endpoints answer' },
  members: { usual: '0', meaning: 'members of all audiences, at each of their destinations' },
  'outage-share': { usual: '0.1', meaning: 'part of the deliveries that is for endpoints which fail' },
  'outage-hours': { usual: '1', meaning: 'for how many hours' },
  transport: { usual: 'undici', meaning: 'undici or got' },
  utilisation: {
    usual: String(usualChoices.utilisation),
    meaning: 'part of a core that a process takes on the long run',
  },
  replicas: { usual: String(usualChoices.replicas), meaning: 'of each partition' },
  'retention-days': { usual: String(usualChoices.retentionDays), meaning: 'that the events topic keeps' },
  'broker-mb': {
    usual: String(usualChoices.brokerMb),
    meaning: 'MB a second that one broker takes in, replication included',
  },
} as const

export type LoadOption = keyof typeof loadOptions

export function commandHelp(): string {
  const lines = Object.entries(loadOptions).map(
    ([name, { usual, meaning }]) => `  --${name.padEnd(16)}${meaning} (${usual})`,
  )
  return ['What an installation needs, by what was measured: docs/explanation/capacity.md', '', ...lines].join('\n')
}

/** What is asked for. @throws RangeError with what an option may be */
export function readLoad(given: Readonly<Partial<Record<LoadOption, string | boolean>>>): {
  readonly load: Load
  readonly choices: Choices
  readonly transport: string
} {
  const text = (name: LoadOption): string => String(given[name] ?? loadOptions[name].usual)
  const number = (name: LoadOption, { above = 0, most = Number.POSITIVE_INFINITY } = {}): number => {
    const value = Number(text(name))
    if (text(name).trim() === '' || !(value >= above && value <= most))
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
      members: number('members'),
      outage: { share: number('outage-share', { most: 1 }), hours: number('outage-hours', { most: 168 }) },
    },
    choices: {
      ...usualChoices,
      utilisation: number('utilisation', { above: 0.01, most: 1 }),
      replicas: number('replicas', { above: 1 }),
      retentionDays: number('retention-days'),
      brokerMb: number('broker-mb', { above: 1 }),
    },
    transport,
  }
}
