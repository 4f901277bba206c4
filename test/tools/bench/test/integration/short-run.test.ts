import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { bounds, type Finding } from '../../bounds.ts'
import { unpinned } from '../../cpu-pinning.ts'
import { transports } from '../../forwarders/hookline.ts'
import { peer } from '../../forwarders/peer.ts'
import { quantile } from '../../latency-under-load.ts'
import { clientRow } from '../../rows/client.ts'
import { collectorRow, small } from '../../rows/collector.ts'
import { deliveryRow } from '../../rows/delivery.ts'
import { healthyUnderLoad } from '../../rows/isolation.ts'
import { peersRow } from '../../rows/peers.ts'
import type { Bench } from '../../rows/row.ts'
import { openStage, type Stage } from '../../test-bed.ts'

/*
 * A short run of `make bench`. It checks only figures that do not depend on the speed of the
 * machine, and ratios with a large tolerance.
 */

/**
 * Factor on the limits of ratios. In a short run V8 has not optimised the code, which affects both
 * sides of a ratio, but not equally.
 */
const room = 1 / 3

/** Program of a peer: a reference loop that reads its parameters from its environment. */
const loop = new URL('../../forwarders/reference-loop-process.ts', import.meta.url).pathname
const itsSettings = JSON.stringify({
  ...{ client: 'undici', partitions: 12, inFlight: 64, brokers: ['$BENCH_BROKERS'] },
  ...{ topic: '$BENCH_TOPIC', group: '$BENCH_GROUP', url: '$BENCH_URL' },
})
const anotherLoop = `'${process.execPath}' '${loop}' "${itsSettings.replaceAll('"', '\\"')}"`
/** Names of the figures that the bench reports for every measured program. */
const told = ['deliveries', 'peak memory', 'lost']

let stage: Stage
let bench: Bench
beforeAll(async () => {
  stage = await openStage(unpinned('others run tests beside this one'))
  bench = {
    stage,
    runs: 1,
    scale: 1,
    backlog: 10_000,
    transports: transports(),
    peers: [],
    profile: false,
    say: () => {},
  }
})
afterAll(() => stage.close())

// The bench reads CPU time from /proc, which only Linux has.
const onLinux = process.platform === 'linux' ? describe : describe.skip

onLinux('a short run of make bench', () => {
  it('delivery: nothing is lost, requests are complete, and the CPU cost is below three times its limit', async () => {
    const plan = { cases: [{ delayMs: 20, inFlight: 256 }], counts: { got: 3_000, others: 8_000 } }
    const { findings, figures } = await deliveryRow(bench, plan)
    const of = (what: string): readonly Finding[] => findings.filter(finding => finding.what === what)
    for (const transport of bench.transports) {
      const bare = transport === 'got' ? 'bare got' : 'bare undici'
      const share = of(`of ${bare}`).find(({ subject }) => subject.startsWith(`hookline ${transport},`))?.measured
      const { must } = bounds.ofReferenceLoop[transport] as { must: { atLeast: number } }
      expect({ transport, share }).toEqual({ transport, share: expect.any(Number) })
      expect(share).toBeGreaterThan(must.atLeast * room)
    }
    for (const what of ['lost', 'requests of no event'])
      expect(of(what).map(({ measured }) => measured)).toEqual(bench.transports.map(() => 0))
    // If a process does not run for five seconds, requests that got a response can count as timed
    // out and be repeated.
    for (const { measured } of of('delivered twice')) expect(measured).toBeLessThan(plan.counts.got / 100)
    expect(of('runs with whole requests').map(({ measured }) => measured)).toEqual(bench.transports.map(() => 1))
    expect(figures.map(({ lost }) => lost)).toEqual(figures.map(() => 0))
  })

  it('peers: runs any program by its command, beside Hookline and the reference loop', async () => {
    // CPU time has steps of 10 ms, so the measured part of the run must take many of these steps.
    const plan = { cases: [{ delayMs: 20, inFlight: 256 }], counts: { got: 0, others: 10_000 } }
    const { findings } = await peersRow({ ...bench, peers: [peer({ name: 'another', command: anotherLoop })] }, plan)
    const of = (subject: string): string[] =>
      findings.filter(finding => finding.subject === `${subject}, 20 ms`).map(({ what }) => what)
    expect(of('hookline undici')).toEqual([...told, 'of another', 'of bare undici'])
    expect([of('another'), of('bare undici')]).toEqual([told, told])
    for (const { what, measured } of findings) {
      if (what === 'lost') expect(measured).toBe(0)
      else expect(measured).toBeGreaterThan(0)
    }
  })

  it('isolation: a destination with more requests than permits does not delay the others', async () => {
    // Requests time out after five seconds. In this time, twice as many events arrive for the dead
    // endpoint as it may have concurrent requests.
    const plan = { destinations: 10, perSecond: 250, seconds: 5, inFlight: 64, perWebhook: 64 }
    const transport = bench.transports[0] ?? ''
    const { passages: without } = await healthyUnderLoad(bench, transport, plan, 0)
    const { passages: withDead } = await healthyUnderLoad(bench, transport, plan, 1)
    expect(withDead).toHaveLength(1_125)
    expect(withDead.filter(({ ms }) => ms === undefined)).toEqual([])
    // If an event had to wait for the timeout of the requests to the dead endpoint, it would wait
    // for more than two seconds. Otherwise an event takes milliseconds, even while other tests run.
    expect(quantile(withDead, 0.75)).toBeLessThan(Math.max(20 * quantile(without, 0.75), 1_500))
  })

  it('client: every message arrives, with less CPU than with the library of Segment', async () => {
    const plan = {
      loads: [{ name: 'full speed', calls: 5_000, perSecond: undefined }],
      outage: { calls: 10_000, perSecond: 10_000 },
    }
    const must = bounds.cheaperThanSegment['full speed']?.must as { atLeast: number }
    const { findings } = await clientRow(bench, plan)
    const of = (start: string): number => findings.find(({ what }) => what.startsWith(start))?.measured ?? Number.NaN
    expect(of('lost')).toBe(0)
    expect(of('times cheaper')).toBeGreaterThan(must.atLeast * room)
    // Other tests use the processors, so the garbage collector may run later, and the peak may be
    // higher.
    expect(of('peak memory')).toBeLessThan(1.5 * bounds.outageMemory.must.atMost)
  })

  it('collector: messages with a 200 are stored once, and the CPU cost is below three times its limit', async () => {
    const { findings } = await collectorRow(bench, small)
    const of = (what: string): number | undefined => findings.find(finding => finding.what === what)?.measured
    expect(of('requests not answered 200')).toBe(0)
    expect(of('answered 200 and not stored')).toBe(0)
    expect(of('stored twice')).toBe(0)
    expect(of('of bare fastify, written')).toBeGreaterThan(bounds.ofBareFastify.must.atLeast * room)
  })
})
