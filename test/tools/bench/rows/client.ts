import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { freePorts } from '../../../../deploy/tools/local/free-ports.ts'
import { bounds, type Finding } from '../bounds.ts'
import type { ClientName, Order, Result, Work } from '../clients/client-protocol.ts'
import { type Endpoint, startEndpoint } from '../clients/counting-collector.ts'
import { pinned } from '../cpu-pinning.ts'
import { createInstallation, type Installation } from '../installation-topics.ts'
import { median } from '../statistics.ts'
import { type Bench, type Figures, type Outcome, scaled } from './row.ts'

const program = new URL('../clients/client-process.ts', import.meta.url).pathname
const run = promisify(execFile)
const patienceMs = 120_000

const clients: readonly ClientName[] = ['hookline', 'hookline to Kafka', 'segment']
const peer = '@segment/analytics-node'
const shownAs = (client: ClientName): string => (client === 'segment' ? peer : client)

export interface ClientPlan {
  readonly loads: readonly {
    readonly name: keyof typeof bounds.cheaperThanSegment
    readonly calls: number
    readonly perSecond: number | undefined
  }[]
  readonly outage: { readonly calls: number; readonly perSecond: number }
}

const full: ClientPlan = {
  loads: [
    { name: 'full speed', calls: 100_000, perSecond: undefined },
    { name: '2,000 calls a second', calls: 10_000, perSecond: 2_000 },
  ],
  // Twice the size of the client's queue, so the queue is full for a part of the run.
  outage: { calls: 100_000, perSecond: 10_000 },
}

/**
 * Measures the CPU time of a client per accepted and sent message, and its memory while it can send
 * no messages.
 */
export async function clientRow(bench: Bench, plan = full): Promise<Outcome> {
  const installation = await createInstallation(bench.stage)
  const endpoint = await startEndpoint()
  try {
    const outcomes: Outcome[] = []
    for (const { calls, ...load } of plan.loads)
      outcomes.push(await compare(bench, installation, endpoint, { ...load, calls: scaled(bench, calls) }))
    outcomes.push(await outage(bench, installation, plan.outage))
    return {
      findings: outcomes.flatMap(({ findings }) => findings),
      figures: outcomes.flatMap(({ figures }) => figures),
    }
  } finally {
    await endpoint.stop()
    await installation.close()
  }
}

type Load = ClientPlan['loads'][number]

async function compare(bench: Bench, installation: Installation, endpoint: Endpoint, load: Load): Promise<Outcome> {
  const results = new Map<ClientName, Result[]>(clients.map(client => [client, []]))
  let lost = 0
  for (let round = 1; round <= bench.runs; round++)
    for (const client of clients) {
      const result = await measure(bench, installation, client, { ...load, isOutage: false }, endpoint.url)
      results.get(client)?.push(result)
      const arrived = await endpoint.messages()
      if (client === 'hookline') lost += Math.max(0, result.calls - arrived)
      bench.say(
        `${shownAs(client)}, ${load.name}, run ${round}: ${result.cpuMicrosAMessage.toFixed(1)} µs CPU per message, ${Math.round(result.perSecond)} / s`,
      )
    }
  const middle = (client: ClientName, of: (result: Result) => number): number =>
    median((results.get(client) ?? []).map(of))
  const cpu = (result: Result): number => result.cpuMicrosAMessage
  const subject = `hookline, ${load.name}`
  const times = median((results.get('hookline') ?? []).map((own, round) => cpuOf(results, round) / cpu(own)))
  return {
    findings: [
      {
        ...{ subject, what: `CPU per message of ${peer}, relative to that of Hookline's library`, measured: times },
        ...bounds.cheaperThanSegment[load.name],
      },
      { subject, what: 'lost', measured: lost, ...bounds.lost },
    ],
    figures: clients.map(client => ({
      client: shownAs(client),
      load: load.name,
      'µs CPU per message': middle(client, cpu),
      'µs inside track()': middle(client, ({ microsACall }) => microsACall),
      'messages / s': Math.round(middle(client, ({ perSecond }) => perSecond)),
      'peak MB': Math.round(middle(client, ({ peakMb }) => peakMb)),
    })),
  }
}

/** CPU time per message of Segment's library in one round, in µs. */
const cpuOf = (results: ReadonlyMap<ClientName, readonly Result[]>, round: number): number =>
  results.get('segment')?.[round]?.cpuMicrosAMessage ?? Number.NaN

async function outage(
  bench: Bench,
  installation: Installation,
  { calls, perSecond }: ClientPlan['outage'],
): Promise<Outcome> {
  const unreachable = `http://127.0.0.1:${await freePorts(1)}`
  const figures: Figures[] = []
  const findings: Finding[] = []
  for (const client of ['hookline', 'segment'] as const) {
    const result = await measure(bench, installation, client, { calls, perSecond, isOutage: true }, unreachable)
    const peakMb = Math.round(result.peakMb)
    bench.say(`${shownAs(client)}, no collector reachable: ${calls} calls, peak ${peakMb} MB`)
    figures.push({
      client: shownAs(client),
      'calls without a reachable collector': calls,
      'calls / s': Math.round(result.perSecond),
      'peak MB': peakMb,
    })
    if (client === 'hookline')
      findings.push({
        subject: 'hookline, no collector reachable',
        what: 'peak memory',
        unit: 'MB',
        measured: peakMb,
        ...bounds.outageMemory,
      })
  }
  return { findings, figures }
}

async function measure(
  { stage }: Bench,
  installation: Installation,
  client: ClientName,
  work: Work,
  url: string,
): Promise<Result> {
  const topicPrefix = installation.topics.events.replace(/\.events$/, '')
  const order: Order = {
    client,
    work,
    url,
    kafka: { brokers: stage.brokers, registry: stage.registryUrl, topicPrefix },
    sourceId: installation.sourceIds[0] ?? '',
  }
  const { command, args } = pinned(stage.pinning.forwarder, process.execPath, [program, JSON.stringify(order)])
  // NODE_ENV=test would change the defaults of kafkajs.
  const env = { ...process.env, NODE_ENV: 'production' }
  const { stdout } = await run(command, args, { env, timeout: patienceMs })
  return JSON.parse(stdout) as Result
}
