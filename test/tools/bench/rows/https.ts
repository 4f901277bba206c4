import { type Bar, bounds, type Finding } from '../bounds.ts'
import {
  type Case,
  drainsOf,
  joined,
  peakOf,
  type Rounds,
  raced,
  rateOf,
  ratio,
  subjectOf,
} from '../compare-forwarders.ts'
import type { Drain } from '../drain-topic.ts'
import type { FigureName, PeerFigureName } from '../figure-names.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { referenceLoop } from '../forwarders/reference-loop.ts'
import { withHttps } from '../https-stage.ts'
import { hostsText } from '../variant-names.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

interface Comparison {
  readonly hosts: number
  readonly cases: readonly Case[]
  readonly count: number
  /** Names of the forwarders: the programs that are measured. */
  readonly forwarders: readonly string[]
}

const benthosTuned = 'benthos-tuned'
const benthosAsShipped = 'benthos'
const goLoop = 'go-loop'
const undici = 'hookline undici'
const got = 'hookline got'
const undiciLoop = referenceLoop('undici')
const gotLoop = referenceLoop('got')
const after20Ms = { delayMs: 20, inFlight: 512 }

/** Programs that need more CPU time for a delivery get fewer events. */
export const full: readonly Comparison[] = [
  {
    hosts: 1,
    cases: [
      { delayMs: 0, inFlight: 256, name: hostsText(1) },
      { ...after20Ms, name: hostsText(1) },
      { delayMs: 200, inFlight: 4_096, name: hostsText(1) },
    ],
    count: 120_000,
    forwarders: [undici, benthosTuned, goLoop, undiciLoop.name],
  },
  {
    hosts: 100,
    cases: [{ ...after20Ms, name: hostsText(100) }],
    count: 120_000,
    forwarders: [undici, benthosTuned, goLoop],
  },
  {
    hosts: 1_000,
    cases: [{ ...after20Ms, name: hostsText(1_000) }],
    count: 120_000,
    forwarders: [undici, benthosTuned, goLoop, undiciLoop.name],
  },
  {
    hosts: 1_000,
    cases: [
      { ...after20Ms, name: hostsText(1_000, ', shared core'), isCoreShared: true },
      { ...after20Ms, name: hostsText(1_000, ', connections of 5 s'), connectionLifeMs: 5_000 },
    ],
    count: 60_000,
    forwarders: [undici, benthosTuned],
  },
  {
    hosts: 10_000,
    cases: [{ ...after20Ms, name: hostsText(10_000) }],
    count: 120_000,
    forwarders: [undici, benthosTuned, goLoop],
  },
  { hosts: 1, cases: [{ ...after20Ms, name: hostsText(1) }], count: 40_000, forwarders: [got, gotLoop.name] },
  // With 40,000 events, many hosts would open a further connection in the measured part.
  { hosts: 1_000, cases: [{ ...after20Ms, name: hostsText(1_000) }], count: 120_000, forwarders: [got, gotLoop.name] },
  { hosts: 1, cases: [{ ...after20Ms, name: hostsText(1) }], count: 10_000, forwarders: [benthosAsShipped] },
  { hosts: 1_000, cases: [{ ...after20Ms, name: hostsText(1_000) }], count: 10_000, forwarders: [benthosAsShipped] },
  {
    hosts: 1,
    cases: [{ ...after20Ms, name: hostsText(1, ', each response closes its connection'), connectionLifeMs: 0 }],
    count: 10_000,
    forwarders: [undici, got, benthosTuned],
  },
]

/**
 * Measures deliveries per CPU second over HTTPS, and the connections that they need, with one host
 * and with many.
 */
export const httpsRow = (bench: Bench, plan = full): Promise<Outcome> =>
  withHttps(bench.stage, async stage => {
    const all = [undiciLoop, gotLoop, ...bench.transports.map(hooklineForwarder), ...bench.peers]
    const outcomes: Outcome[] = []
    for (const { forwarders, count, ...comparison } of plan) {
      const measured = forwarders.flatMap(name => all.find(each => each.name === name) ?? [])
      if (measured.length === 0) continue
      const race = { ...comparison, forwarders: measured, count: scaled(bench, count) }
      outcomes.push(await raced({ ...bench, stage }, { ...race, findingsOf: findingsWith(measured) }))
    }
    const outcome = joined(outcomes)
    return { ...outcome, findings: [...outcome.findings, ...growthOf(outcome.findings)] }
  })

/** Compares the deliveries per CPU second with many hosts and with fewer. */
function growthOf(findings: readonly Finding[]): readonly Finding[] {
  const rateAt = (program: string, hosts: number): Finding | undefined =>
    findings.find(
      ({ subject, what }) =>
        subject === subjectOf(program, { ...after20Ms, name: hostsText(hosts) }) && what === 'deliveries',
    )
  const compared = (program: string, many: number, few: number, bar: Bar): readonly Finding[] => {
    const [rate, reference] = [rateAt(program, many), rateAt(program, few)]
    if (rate === undefined || reference === undefined) return []
    const what: FigureName =
      few === 1 ? 'deliveries per CPU second, relative to 1 host' : 'deliveries per CPU second, relative to 1,000 hosts'
    return [{ subject: rate.subject, what, measured: rate.measured / reference.measured, ...bar }]
  }
  return [...compared(undici, 10_000, 1_000, bounds.manyHosts.undici), ...compared(got, 1_000, 1, bounds.manyHosts.got)]
}

function findingsWith(measured: readonly Forwarder[]) {
  return (name: string, at: Case, rounds: Rounds): readonly Finding[] => {
    const subject = subjectOf(name, at)
    const drains = drainsOf(name, rounds)
    const isOurs = name === undici || name === got
    const worst = (of: (drain: Drain) => number): number => Math.max(...drains.map(of))
    const finding = (what: FigureName | PeerFigureName, value: number, bar: Bar = {}): Finding => ({
      ...{ subject, what, measured: value },
      ...(isOurs && bar),
    })
    const closes = at.connectionLifeMs !== undefined
    const others = isOurs ? measured.filter(each => each.name !== undici && each.name !== got) : []
    return [
      { ...finding('deliveries', rateOf(name, rounds)), unit: 'per CPU second' },
      ...others.map(other =>
        finding(
          `deliveries per CPU second, relative to ${nameIn(other.name)}`,
          ratio(name, other.name, rounds),
          barOf(other.name, at),
        ),
      ),
      finding(
        'new connections per delivery',
        worst(each => each.newConnections),
        closes ? {} : bounds.newConnections,
      ),
      finding(
        'full TLS handshakes per delivery',
        worst(each => each.fullHandshakes),
      ),
      { ...finding('peak memory', peakOf(name, rounds)), unit: 'MB' },
      finding(
        'lost',
        worst(each => each.lost),
        bounds.lost,
      ),
      finding(
        'duplicated',
        worst(each => each.duplicates),
        bounds.duplicates,
      ),
    ]
  }
}

function barOf(other: string, { name = '', connectionLifeMs, isCoreShared }: Case): Bar {
  if (other === gotLoop.name) return name === hostsText(1) ? bounds.overHttps.gotLoop : {}
  if (other === goLoop) return bounds.overHttps.goLoop
  if (other !== benthosTuned || isCoreShared) return {}
  if (connectionLifeMs === 0) return bounds.overHttps.tunedClosing
  if (name === hostsText(1)) return bounds.overHttps.tunedOneHost
  return name === hostsText(1_000) ? bounds.overHttps.tunedManyHosts : {}
}

const nameIn = (program: string): string => (program.startsWith('reference loop') ? `the ${program}` : program)
