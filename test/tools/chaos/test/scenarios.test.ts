import { expect, it } from '@jest/globals'
import type { Limits } from '../delivery-verdict.ts'
import { type AnyScenario, scenarios } from '../scenarios.ts'

/** Names of faults that affect neither the processes of Hookline nor the brokers. */
const endpointOrFile = /^(endpoint|\d+ endpoints fail|healed|watched|topic|secret|edit|broken file|clock)\b/
const faultsOf = (scenario: AnyScenario): readonly string[] => {
  if ('lists' in scenario) return scenario.faults.flat().map(({ kind }) => kind)
  return 'soak' in scenario ? [] : scenario.faults.map(({ name }) => name)
}
const affectsProcesses = (scenario: AnyScenario): boolean => faultsOf(scenario).some(name => !endpointOrFile.test(name))

it.each(scenarios.filter(affectsProcesses))('has destinations of different speed in $name', ({ destinations }) => {
  const latencies = destinations.map((each: { readonly latencyMs?: number }) => each.latencyMs ?? 10)
  expect(new Set(latencies).size).toBeGreaterThan(1)
})

it('knows all scenarios without faults of processes and brokers', () => {
  expect(scenarios.filter(each => !affectsProcesses(each)).map(({ name }) => name)).toEqual([
    ...['retry-topic-unwritable', 'dead-letter-unwritable', 'endpoint-fails', 'endpoint-hangs', 'endpoint-resets'],
    ...['endpoint-breaks-off', 'endpoint-trickles', 'endpoint-limits', 'endpoint-pauses', 'endpoint-outage'],
    ...[
      'crowd-hangs',
      'crowd-slow',
      'shared-host-slow',
      'hot-key',
      'heavy-partition',
      'clock',
      'configuration',
      'soak',
    ],
  ])
})

const bounds = { latestMs: 200_000, unreadyMs: 150_000, duplicates: 2_000, bySender: 3_000 } as const

it.each(scenarios)('limits lateness, readiness, duplicates and the order in $name', scenario => {
  const limits: Partial<Limits> = scenario.limits
  const over = Object.entries(bounds).filter(([name, bound]) => (limits[name as keyof typeof bounds] ?? 0) > bound)
  expect(over).toEqual([])
  expect(limits.latestMs).toBeGreaterThan(0)
  expect(limits.orderedShare ?? 1).toBeGreaterThanOrEqual(0.25)
})
