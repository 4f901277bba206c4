import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../../../src/core/time.ts'
import { bounds, type Finding } from '../../bounds.ts'
import { unpinned } from '../../cpu-pinning.ts'
import type { FigureName, PeerFigureName } from '../../figure-names.ts'
import { transports } from '../../forwarders/hookline.ts'
import { peer } from '../../forwarders/peer.ts'
import { referenceLoop } from '../../forwarders/reference-loop.ts'
import { createInstallation } from '../../installation-topics.ts'
import { quantile } from '../../latency-under-load.ts'
import { type ClientPlan, clientRow } from '../../rows/client.ts'
import { collectorRow, small } from '../../rows/collector.ts'
import { deliveryRow } from '../../rows/delivery.ts'
import { httpsRow } from '../../rows/https.ts'
import { httpsLatencyRow } from '../../rows/https-latency.ts'
import { healthyUnderLoad } from '../../rows/isolation.ts'
import { peersRow } from '../../rows/peers.ts'
import { retriesRow } from '../../rows/retries.ts'
import type { Bench } from '../../rows/row.ts'
import { openStage, type Stage } from '../../test-bed.ts'
import { variantOf } from '../../variant-names.ts'

/*
 * Checks only figures of `make bench` that do not depend on the machine's speed, and ratios with a
 * large tolerance.
 */

/**
 * Factor that relaxes the limits of ratios. In a short run, V8 has not optimised the code, and
 * other tests use the cores.
 */
const room = 1 / 10

const loop = new URL('../../forwarders/reference-loop-process.ts', import.meta.url).pathname
const itsSettings = JSON.stringify({
  ...{ client: 'undici', partitions: 12, inFlight: 64, brokers: ['$BENCH_BROKERS'] },
  ...{ topic: '$BENCH_TOPIC', group: '$BENCH_GROUP', url: '$BENCH_URL', hosts: 1 },
})
const anotherLoop = `'${process.execPath}' '${loop}' "${itsSettings.replaceAll('"', '\\"')}"`
const ofEveryProgram: readonly FigureName[] = ['deliveries', 'peak memory', 'lost']

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

// The bench reads CPU time from /proc.
const onLinux = process.platform === 'linux' ? describe : describe.skip

onLinux('a short run of make bench', () => {
  it('delivery: nothing is lost, requests are complete, and the CPU cost is below ten times its limit', async () => {
    const plan = { cases: [{ delayMs: 20, inFlight: 256 }], counts: { got: 3_000, others: 8_000 } }
    const { findings, figures } = await deliveryRow(bench, plan)
    const of = (what: FigureName): readonly Finding[] => findings.filter(finding => finding.what === what)
    for (const transport of bench.transports) {
      const reference = referenceLoop(transport === 'got' ? 'got' : 'undici').name
      const ratios = of(`deliveries per CPU second, relative to the ${reference}`)
      const share = ratios.find(({ subject }) => subject.startsWith(`hookline ${transport},`))?.measured
      const { must } = bounds.ofReferenceLoop[transport] as { must: { atLeast: number } }
      expect({ transport, share }).toEqual({ transport, share: expect.any(Number) })
      expect(share).toBeGreaterThan(must.atLeast * room)
    }
    for (const what of ['lost', 'requests for unknown events'] as const)
      expect(of(what).map(({ measured }) => measured)).toEqual(bench.transports.map(() => 0))
    // If a busy machine stops a process for five seconds, Hookline may repeat a request that got a
    // response.
    for (const { measured } of of('duplicated')) expect(measured).toBeLessThan(plan.counts.got / 100)
    const complete = of('repetitions in which the verified request was complete')
    expect(complete.map(({ measured }) => measured)).toEqual(bench.transports.map(() => 1))
    expect(figures.map(({ lost }) => lost)).toEqual(figures.map(() => 0))
  })

  it('a repetition with the same events finds no records of the earlier one in the retry topics', async () => {
    const installation = await createInstallation(stage, { partitions: 1 })
    const topic = installation.topics.retry(durationMs(10_000))
    await installation.write(topic, [{ key: null, value: Buffer.from('earlier'), headers: {}, partition: 0 }])
    expect(await installation.countRecords(topic)).toBe(1)
    await installation.prepareRun()
    expect(await installation.countRecords(topic)).toBe(0)
    await installation.close()
  })

  it('retries: each failed event leaves a record in the retry topic, and its size is measured', async () => {
    const { findings, figures } = await retriesRow({ ...bench, transports: ['undici'] }, { count: 1_200 })
    const of = (what: FigureName): readonly number[] =>
      findings.filter(each => each.what === what).map(({ measured }) => measured)
    expect(figures.map(each => each['failed first attempts'])).toEqual([400])
    expect(of('lost')).toEqual([0])
    const [retryRecord = Number.NaN] = of('size of the record in the retry topic')
    expect(retryRecord).toBeGreaterThan(figures[0]?.['bytes per event'] as number)
  })

  it('https: keeps connections to all hosts, and resumes TLS sessions on new ones', async () => {
    const ours = ['hookline got', 'hookline undici']
    const loops = [referenceLoop('got').name, referenceLoop('undici').name]
    const at = { delayMs: 20, inFlight: 64 }
    const { findings } = await httpsRow(bench, [
      { hosts: 3, cases: [{ ...at, name: 'open' }], count: 3_000, forwarders: [...ours, ...loops] },
      { hosts: 3, cases: [{ ...at, name: 'closing', connectionLifeMs: 0 }], count: 600, forwarders: ours },
    ])
    const of = (what: FigureName, name: string): readonly number[] =>
      findings.filter(each => each.what === what && each.subject.endsWith(name)).map(({ measured }) => measured)
    expect(of('lost', '')).toEqual([0, 0, 0, 0, 0, 0])
    for (const opened of of('new connections per delivery', 'open')) expect(opened).toBeLessThan(0.1)
    const [closed, handshakes] = [
      of('new connections per delivery', 'closing'),
      of('full TLS handshakes per delivery', 'closing'),
    ]
    expect(closed).toHaveLength(ours.length)
    // At the start of the measured part, up to 64 of its 390 deliveries may already have their
    // connection. Without the closing of connections, at most 192 would be new.
    for (const opened of closed) expect(opened).toBeGreaterThan(0.8)
    for (const full of handshakes) expect(full).toBeLessThan(0.1)
  })

  it('https-latency: measures HTTPS beside plain HTTP, and loses nothing beside a dead endpoint', async () => {
    const { findings } = await httpsLatencyRow({ ...bench, scale: 0.1, transports: ['undici'] })
    const of = (what: FigureName): readonly number[] =>
      findings.filter(each => each.what === what).map(({ measured }) => measured)
    expect([of('lost'), of('share of the other events delivered within 1 s')]).toEqual([[0], [expect.any(Number)]])
    // The latency of an event that never arrives is infinite.
    expect(of('p99 of the other events')).toEqual([expect.any(Number)])
    for (const measured of [...of('p99, relative to plain HTTP'), ...of('p99'), ...of('p99 of the other events')]) {
      expect(measured).toBeGreaterThan(0)
      expect(measured).toBeLessThan(Number.POSITIVE_INFINITY)
    }
  }, 600_000)

  it('peers: runs any program by its command, beside Hookline and the reference loop', async () => {
    // CPU time has steps of 10 ms, so the measured part must take many of them.
    const plan = { cases: [{ delayMs: 20, inFlight: 256 }], counts: { got: 0, others: 10_000 } }
    const { findings } = await peersRow({ ...bench, peers: [peer({ name: 'another', command: anotherLoop })] }, plan)
    const of = (program: string): readonly string[] =>
      findings.filter(({ subject }) => subject === variantOf.delivery(program, 20)).map(({ what }) => what)
    const ratios: readonly PeerFigureName[] = [
      'deliveries per CPU second, relative to another',
      'deliveries per CPU second, relative to the reference loop with undici',
    ]
    expect(of('hookline undici')).toEqual([...ofEveryProgram, ...ratios])
    expect([of('another'), of('reference loop with undici')]).toEqual([ofEveryProgram, ofEveryProgram])
    for (const { what, measured } of findings) {
      if (what === 'lost') expect(measured).toBe(0)
      else expect(measured).toBeGreaterThan(0)
    }
  })

  it('isolation: a destination with more requests than permits does not delay the others', async () => {
    // Until requests time out after five seconds, 125 events arrive for the dead endpoint, almost
    // twice the limit of 64 concurrent requests.
    const plan = { destinations: 10, perSecond: 250, seconds: 5, inFlight: 64, perWebhook: 64 }
    const transport = bench.transports[0] ?? ''
    const { passages: without } = await healthyUnderLoad(bench, transport, plan, 0)
    const { passages: withDead } = await healthyUnderLoad(bench, transport, plan, 1)
    expect(withDead).toHaveLength(1_125)
    expect(withDead.filter(({ ms }) => ms === undefined)).toEqual([])
    // An event takes milliseconds. If events waited for timeouts of the dead endpoint, a quarter of
    // them would take more than 2.5 s. If a busy machine stops a process for two seconds, fewer
    // events take more than that.
    expect(quantile(withDead, 0.75)).toBeLessThan(Math.max(20 * quantile(without, 0.75), 2_000))
  })

  it('client: every message arrives, with less CPU than with the library of Segment', async () => {
    const plan: ClientPlan = {
      loads: [{ name: 'full speed', calls: 5_000, perSecond: undefined }],
      outage: { calls: 10_000, perSecond: 10_000 },
    }
    const { must } = bounds.cheaperThanSegment['full speed']
    const { findings } = await clientRow(bench, plan)
    const of = (name: FigureName): number => findings.find(({ what }) => what === name)?.measured ?? Number.NaN
    expect(of('lost')).toBe(0)
    expect(of("CPU per message of @segment/analytics-node, relative to that of Hookline's library")).toBeGreaterThan(
      must.atLeast * room,
    )
    // Beside other tests, the garbage collector may run later, so the peak may be higher.
    expect(of('peak memory')).toBeLessThan(1.5 * bounds.outageMemory.must.atMost)
  })

  it('collector: messages with a 200 are stored once, and the CPU cost is below ten times its limit', async () => {
    const { findings } = await collectorRow(bench, small)
    const of = (what: FigureName): number | undefined => findings.find(finding => finding.what === what)?.measured
    expect(of('requests without a 200')).toBe(0)
    expect(of('messages that got a 200 but are not on the topic')).toBe(0)
    expect(of('messages stored twice')).toBe(0)
    const ofBareHandler = of('messages per CPU second, relative to the bare handler')
    expect(ofBareHandler).toBeGreaterThan(bounds.ofBareHandler.must.atLeast * room)
  })
})
