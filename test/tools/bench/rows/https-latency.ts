import { bounds, type Finding } from '../bounds.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { referenceLoop } from '../forwarders/reference-loop.ts'
import { withHttps } from '../https-stage.ts'
import { type Live, quantile } from '../latency-under-load.ts'
import { type Profiled, profileOf } from '../profile-summary.ts'
import { median } from '../statistics.ts'
import type { Stage } from '../test-bed.ts'
import { variantOf } from '../variant-names.ts'
import { type Crowd, crowdOutcome } from './isolation.ts'
import { passagesIn, runUnderLoad } from './live.ts'
import type { Bench, Outcome } from './row.ts'

const crowd: Crowd = { destinations: 10, dead: [1], seconds: 25 }

/**
 * The loads of the rows `live` and `isolation` over HTTPS. Each run of `live` is paired with one
 * over HTTP.
 */
export const httpsLatencyRow = (bench: Bench): Promise<Outcome> =>
  withHttps(bench.stage, async secure => {
    const outcomes: Outcome[] = []
    // This run does not count. It warms up the broker, whose first runs are slower than later ones.
    await runUnderLoad({ ...bench, profile: false }, referenceLoop('undici'))
    for (const transport of bench.transports) {
      outcomes.push(await liveOutcome(bench, secure, transport))
      outcomes.push(await crowdOutcome({ ...bench, stage: secure }, transport, crowd, nameOf(transport)))
    }
    return {
      findings: outcomes.flatMap(({ findings }) => findings),
      figures: outcomes.flatMap(({ figures }) => figures),
      profiles: outcomes.flatMap(({ profiles = [] }) => profiles),
    }
  })

const nameOf = (transport: string): string => `hookline ${transport} over HTTPS`

interface Round {
  readonly plain: Live
  readonly secure: Live
}

async function liveOutcome(bench: Bench, secure: Stage, transport: string): Promise<Outcome> {
  const subject = variantOf.live(nameOf(transport), 1_000, 20)
  const rounds: Round[] = []
  const profiles: Profiled[] = []
  const run = async (stage: Stage): Promise<Live> => {
    const measured = await runUnderLoad({ ...bench, stage }, hooklineForwarder(transport))
    if (stage === secure) profiles.push(...(await profileOf(subject, measured)))
    return measured.run
  }
  for (let round = 1; round <= bench.runs; round++) {
    // The speed of the broker changes over minutes, so the order of the runs alternates.
    const [first, second] = round % 2 === 1 ? [bench.stage, secure] : [secure, bench.stage]
    const [one, two] = [await run(first), await run(second)]
    const [plain, ofSecure] = first === secure ? [two, one] : [one, two]
    rounds.push({ plain, secure: ofSecure })
    bench.say(`${subject}: p99 latency ${p99(ofSecure).toFixed(1)} ms, ${p99(plain).toFixed(1)} ms with plain HTTP`)
  }
  return { findings: findingsOf(subject, transport, rounds), figures: figuresOf(transport, rounds), profiles }
}

const p99 = (run: Live): number => quantile(passagesIn(run), 0.99)

function findingsOf(subject: string, transport: string, rounds: readonly Round[]): readonly Finding[] {
  const worst = (of: (run: Live) => number): number =>
    Math.max(...rounds.flatMap(({ plain, secure }) => [of(plain), of(secure)]))
  const medianOf = (of: (round: Round) => number): number => median(rounds.map(of))
  return [
    { subject, what: 'p50', unit: 'ms', measured: medianOf(({ secure }) => quantile(passagesIn(secure), 0.5)) },
    {
      ...{ subject, what: 'p99', unit: 'ms', measured: medianOf(({ secure }) => p99(secure)) },
      ...(transport === 'got' && bounds.overHttps.gotP99),
    },
    {
      ...{
        subject,
        what: 'p99, relative to plain HTTP',
        measured: medianOf(({ plain, secure }) => p99(secure) / p99(plain)),
      },
      reference: { name: 'plain HTTP', measured: medianOf(({ plain }) => p99(plain)), unit: 'ms' },
      ...bounds.overHttps.p99Ratio,
    },
    { subject, what: 'lost', measured: worst(({ lost }) => lost), ...bounds.lost },
    { subject, what: 'duplicated', measured: worst(({ duplicates }) => duplicates), ...bounds.duplicates },
  ]
}

const figuresOf = (transport: string, rounds: readonly Round[]): Outcome['figures'] =>
  rounds.map(({ plain, secure }, index) => ({
    ...{ transport, round: index + 1 },
    ...{ 'p99 ms': p99(secure), 'p99 ms with plain HTTP': p99(plain) },
    ...{ lost: secure.lost, duplicates: secure.duplicates },
  }))
