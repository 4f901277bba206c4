import { type Bar, bounds, type Finding } from '../bounds.ts'
import {
  type Case,
  drainsOf,
  joined,
  peakOf,
  type Race,
  type Rounds,
  raced,
  rateOf,
  ratio,
} from '../compare-forwarders.ts'
import type { Drain } from '../drain-topic.ts'
import type { FigureName } from '../figure-names.ts'
import { hooklineForwarder, isWhole } from '../forwarders/hookline.ts'
import { referenceLoop } from '../forwarders/reference-loop.ts'
import { variantOf } from '../variant-names.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

export interface DeliveryPlan {
  readonly cases: readonly Case[]
  /** Events per run; fewer for `got`, with which each event costs more CPU. */
  readonly counts: { readonly got: number; readonly others: number }
}

export const full: DeliveryPlan = {
  cases: [
    { delayMs: 0, inFlight: 256 },
    { delayMs: 20, inFlight: 512 },
    { delayMs: 200, inFlight: 4_096 },
  ],
  counts: { got: 40_000, others: 120_000 },
}

/**
 * Measures deliveries per CPU second of Hookline and of the reference loop with the same HTTP
 * client, alternately.
 */
export async function deliveryRow(bench: Bench, plan = full): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const race of races(bench, plan)) outcomes.push(await raced(bench, race))
  return joined(outcomes)
}

function races(bench: Bench, { cases, counts }: DeliveryPlan): readonly Race[] {
  const ours = bench.transports.map(transport => ({ transport, forwarder: hooklineForwarder(transport) }))
  const slow = ours.filter(({ transport }) => transport === 'got').map(({ forwarder }) => forwarder)
  const fast = ours.filter(({ transport }) => transport !== 'got').map(({ forwarder }) => forwarder)
  return [
    { forwarders: [referenceLoop('got'), ...slow], count: scaled(bench, counts.got), cases, findingsOf },
    { forwarders: [referenceLoop('undici'), ...fast], count: scaled(bench, counts.others), cases, findingsOf },
  ].filter(({ forwarders }) => forwarders.length > 1)
}

/** The figures of Hookline with their bounds; none for the reference loop. */
function findingsOf(name: string, at: Case, rounds: Rounds): readonly Finding[] {
  const [, transport] = /^hookline (.+)$/.exec(name) ?? []
  if (transport === undefined) return []
  const drains = drainsOf(name, rounds)
  const subject = variantOf.delivery(name, at.delayMs)
  const worst = (of: (drain: Drain) => number): number => Math.max(...drains.map(of))
  const finding = (what: FigureName, measured: number, bar: Bar): Finding => ({ subject, what, measured, ...bar })
  const complete = drains.filter(({ sample }) => sample !== undefined && isWhole(sample)).length
  const { name: reference } = referenceLoop(transport === 'got' ? 'got' : 'undici')
  const memory = bounds.peakMemory[at.inFlight]
  return [
    {
      ...finding('deliveries', rateOf(name, rounds), {}),
      unit: 'per CPU second',
      reference: { name: reference, measured: rateOf(reference, rounds), unit: 'per CPU second' },
    },
    finding(
      `deliveries per CPU second, relative to the ${reference}`,
      ratio(name, reference, rounds),
      bounds.ofReferenceLoop[transport] ?? {},
    ),
    { ...finding('peak memory', peakOf(name, rounds), memory ?? {}), unit: 'MB' },
    finding(
      'lost',
      worst(({ lost }) => lost),
      bounds.lost,
    ),
    finding(
      'duplicated',
      worst(({ duplicates }) => duplicates),
      bounds.duplicates,
    ),
    finding(
      'requests for unknown events',
      worst(({ foreign }) => foreign),
      bounds.duplicates,
    ),
    finding('repetitions in which the verified request was complete', complete, { must: { atLeast: rounds.length } }),
  ]
}
