import type { Registry } from '../../../adapters/avro/schema-registry.ts'
import type { ClusterProbe } from '../../../adapters/kafka/log/cluster-probe.ts'
import type { EndpointExaminer } from '../../../adapters/webhook/endpoint-probe.ts'
import { accessNeeded, judgeAccess } from '../../../core/doctor/access.ts'
import { judgeClock, judgeCluster, type Reached } from '../../../core/doctor/cluster.ts'
import { judgeEndpoint, tellTransport } from '../../../core/doctor/endpoint.ts'
import { type Examined, type Finding, inOrder, type Judgement, numbered } from '../../../core/doctor/finding.ts'
import { judgeSchemas } from '../../../core/doctor/schemas.ts'
import { judgeTopics, topicDrift } from '../../../core/doctor/topic-drift.ts'
import type { Clock, TopicAdmin } from '../../../core/ports.ts'
import type { ServiceName } from '../../../core/settings/service-names.ts'
import type { Destination, Settings } from '../../../core/settings/settings.ts'
import { warningsOf } from '../../../core/settings/warnings.ts'
import { tiersOf, topicNames, topicSpecs } from '../../../core/topics.ts'
import { type DurationMs, formatDuration, revealed } from '../../../core/units.ts'
import { stateOf, subjectsOf } from '../../schema-states.ts'

/** What the doctor looks through. */
export interface Instruments {
  readonly cluster: ClusterProbe
  readonly admin: TopicAdmin
  readonly registry: Registry
  readonly endpoints: EndpointExaminer
  readonly clock: Clock
}

export interface Patient {
  readonly settings: Settings
  /** What is not used by these is not looked at. */
  readonly services: ReadonlySet<ServiceName>
}

/** Connections under way at once: a thousand dead endpoints are through within three of their deadlines. */
const dialledAtOnce = 400

/** Looks at everything at once; what has not answered within `limit` is a finding too. Rejects never. */
export async function examine(
  patient: Patient,
  instruments: Instruments,
  limit: DurationMs,
): Promise<readonly Finding[]> {
  const { settings, services } = patient
  const timeIsOver = Promise.withResolvers<'over'>()
  const cancel = instruments.clock.after(limit, () => timeIsOver.resolve('over'))
  const examination = new Examination(timeIsOver.promise, limit)
  const kafka = examineKafka(patient, instruments)
  const isDelivering = services.has('dispatcher')
  const parts = [
    examination.part('configuration', async () => tellConfiguration(settings)),
    examination.part('kafka', async () => (await kafka).judgements),
    examination.part('access', () => afterKafka(kafka, address => examineAccess(patient, instruments, address))),
    examination.part('topics', () => afterKafka(kafka, () => examineTopics(patient, instruments))),
    examination.part('registry', () => examineRegistry(settings, instruments)),
    ...(isDelivering
      ? [
          examination.part('clock', () => afterKafka(kafka, () => examineClock(settings, instruments))),
          ...examineEndpoints(settings, instruments, examination),
          examination.part('transport', async () => [tellTransport(settings.delivery.transport)]),
        ]
      : []),
  ]
  const findings = (await Promise.all(parts)).flat()
  cancel()
  return inOrder(findings)
}

/** Runs parts against one limit. */
class Examination {
  readonly #over: Promise<'over'>
  readonly #limit: DurationMs

  constructor(over: Promise<'over'>, limit: DurationMs) {
    this.#over = over
    this.#limit = limit
  }

  async part(of: Examined, look: () => Promise<readonly Judgement[]>, which?: string): Promise<readonly Finding[]> {
    const failed = (detail: string): readonly Judgement[] => [{ level: 'fail', detail, ...(which && { which }) }]
    const judgements = await Promise.race([look(), this.#over]).catch((error: Error) => failed(error.message))
    const told = judgements === 'over' ? failed(`no answer within ${formatDuration(this.#limit)}`) : judgements
    return told.map(judgement => ({ of, ...judgement }))
  }
}

interface KafkaSeen {
  readonly judgements: readonly Judgement[]
  /** An address that can be used. */
  readonly address: string | undefined
}

async function examineKafka({ settings }: Patient, { cluster }: Instruments): Promise<KafkaSeen> {
  const reach = (addresses: readonly string[]): Promise<readonly Reached[]> =>
    Promise.all(
      addresses.map(address =>
        cluster.reach(address).then(
          ({ unsupported }) => ({ address, failure: undefined, unsupported }),
          (error: Error) => ({ address, failure: error.message, unsupported: [] }),
        ),
      ),
    )
  const configured = await reach(settings.kafka.brokers)
  const address = configured.find(({ failure }) => failure === undefined)?.address
  if (address === undefined)
    return { address, judgements: judgeCluster({ configured, advertised: [], brokers: undefined }) }
  const told = await cluster.advertised(address)
  const advertised = await reach(told.filter(each => !settings.kafka.brokers.includes(each)))
  return { address, judgements: judgeCluster({ configured, advertised, brokers: told.length }) }
}

/** Without Kafka there is nothing to tell but that. */
async function afterKafka(
  kafka: Promise<KafkaSeen>,
  look: (address: string) => Promise<readonly Judgement[]>,
): Promise<readonly Judgement[]> {
  const address = await kafka.then(
    seen => seen.address,
    () => undefined,
  )
  return address === undefined ? [] : look(address)
}

async function examineAccess(
  { settings, services }: Patient,
  { cluster }: Instruments,
  address: string,
): Promise<readonly Judgement[]> {
  const needed = accessNeeded({
    services,
    topics: topicNames(settings.topics.prefix),
    tiers: tiersOf(settings.delivery.schedule),
    hasOperator: settings.operatorListen !== undefined || settings.collector.operatorKey !== undefined,
    hasAttempts: settings.delivery.attemptsTopic,
    hasCanary: settings.canary !== undefined,
  })
  return judgeAccess(needed, await cluster.refused(address, needed))
}

async function examineTopics({ settings, services }: Patient, { admin }: Instruments): Promise<readonly Judgement[]> {
  const { topics, delivery } = settings
  const specs = topicSpecs(topics, delivery.schedule, delivery).filter(({ usedBy }) =>
    usedBy.some(service => services.has(service)),
  )
  const found = await admin.describe(specs.map(({ name }) => name))
  return judgeTopics(topicDrift(specs, found, delivery.window), specs.length)
}

async function examineRegistry(settings: Settings, { registry }: Instruments): Promise<readonly Judgement[]> {
  const subjects = subjectsOf(settings)
  return judgeSchemas(
    await Promise.all(subjects.map(async each => ({ subject: each.subject, ...(await stateOf(registry, each)) }))),
  )
}

async function examineClock({ topics }: Settings, { cluster }: Instruments): Promise<readonly Judgement[]> {
  return [judgeClock(await cluster.readClock(topicNames(topics.prefix).deadLetter))]
}

/** So many at a time, the others behind them. */
function examineEndpoints(
  settings: Settings,
  { endpoints, clock }: Instruments,
  examination: Examination,
): readonly Promise<readonly Finding[]>[] {
  const under: Promise<unknown>[] = []
  return endpointsOf(settings.destinations).map(({ url, which }: Endpoint, index) => {
    const before = under[index - dialledAtOnce]
    const dialled = (before ?? Promise.resolve()).then(() => endpoints.dial(url))
    under.push(dialled)
    return examination.part('endpoint', async () => [{ which, ...judgeEndpoint(await dialled, clock.now()) }], which)
  })
}

function tellConfiguration(settings: Settings): readonly Judgement[] {
  const { sources, destinations } = settings
  const warnings = warningsOf(settings)
  const webhooks = destinations.reduce((sum, destination) => sum + destination.webhooks.length, 0)
  const detail = [
    numbered(sources.length, 'source'),
    numbered(destinations.length, 'destination'),
    numbered(webhooks, 'webhook'),
  ].join(', ')
  return [{ level: 'ok', detail }, ...warnings.map(warning => ({ level: 'warn' as const, detail: warning }))]
}

/** One place that connections go to, however many webhooks are there. */
export interface Endpoint {
  /** Its origin: what comes behind it may hold a secret. */
  readonly url: URL
  /** `crm/0, erp/0 https://hooks.example.com` */
  readonly which: string
}

/** Those of destinations that are switched on, each once; paused ones too. */
export function endpointsOf(destinations: readonly Destination[]): readonly Endpoint[] {
  const webhooks = destinations
    .filter(({ enabled }) => enabled)
    .flatMap(destination =>
      destination.webhooks.map(({ label, url }) => ({
        name: `${destination.id}/${label}`,
        url: new URL(revealed(url)),
      })),
    )
  return [...Map.groupBy(webhooks, ({ url }) => url.origin)].map(([origin, those]) => ({
    url: new URL(origin),
    which: `${namesOf(those.map(({ name }) => name))} ${origin}`,
  }))
}

const mostNames = 3

function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ')
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown
}
