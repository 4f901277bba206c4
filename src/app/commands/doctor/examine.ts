import type { Registry } from '../../../adapters/avro/schema-registry.ts'
import type { ClusterProbe } from '../../../adapters/kafka/log/doctor-cluster-probe.ts'
import type { EndpointDialer } from '../../../adapters/webhook/doctor-endpoint-probe.ts'
import { countWithNoun } from '../../../core/count-with-noun.ts'
import { type ConnectionResult, judgeClock, judgeCluster } from '../../../core/doctor/cluster-and-clock.ts'
import { describeTransport, judgeEndpoint } from '../../../core/doctor/endpoint-and-http-client.ts'
import { type CheckKind, type Finding, inOrder, type Judgement } from '../../../core/doctor/finding.ts'
import { accessNeeded, judgeAccess } from '../../../core/doctor/kafka-permissions.ts'
import { judgeSchemas } from '../../../core/doctor/schemas.ts'
import { judgeAvailability, judgeTopics, topicDrift } from '../../../core/doctor/topic-drift.ts'
import type { TlsIdentity } from '../../../core/network/tls-identity.ts'
import type { Clock, TopicAdmin } from '../../../core/ports.ts'
import { revealed } from '../../../core/secret.ts'
import type { ServiceName } from '../../../core/settings/service-names.ts'
import type { Destination, Settings } from '../../../core/settings/settings.ts'
import { warningsOf } from '../../../core/settings/warnings.ts'
import { type DurationMs, durationMs, formatDuration } from '../../../core/time.ts'
import { tiersOf, topicNames, topicSpecsOf } from '../../../core/topics.ts'
import { schemaStateOf, subjectsOf } from '../../schema-states.ts'

/** The clients that the checks use. */
export interface Instruments {
  readonly cluster: ClusterProbe
  readonly admin: TopicAdmin
  readonly registry: Registry
  readonly endpoints: EndpointDialer
  readonly clock: Clock
}

export interface ExaminationInput {
  readonly settings: Settings
  /**
   * Why the config topic, with its destinations and sources, could not be read. A check reports the
   * reason.
   */
  readonly configTopicError?: string
  /** The checks cover only what these services use. */
  readonly services: ReadonlySet<ServiceName>
}

/** Maximum endpoints that are dialled concurrently. `limit` in `doctor.ts` depends on it. */
const maxConcurrentDials = 400

/** Runs all checks concurrently. A check without a result within `limit` fails. Never rejects. */
export async function examine(
  input: ExaminationInput,
  instruments: Instruments,
  limit: DurationMs,
): Promise<readonly Finding[]> {
  const { settings, services } = input
  const timeIsOver = Promise.withResolvers<'over'>()
  const cancel = instruments.clock.after(limit, () => timeIsOver.resolve('over'))
  const examination = new Examination(timeIsOver.promise, limit)
  const kafka = examineKafka(input, instruments)
  const isDelivering = services.has('dispatcher')
  const parts = [
    examination.part('configuration', async () => judgeConfiguration(input)),
    examination.part('kafka', async () => (await kafka).judgements),
    examination.part('access', () => afterKafka(kafka, address => examineAccess(input, instruments, address))),
    examination.part('topics', () => afterKafka(kafka, () => examineTopics(input, instruments))),
    examination.part('registry', () => examineRegistry(settings, instruments)),
    ...(isDelivering
      ? [
          examination.part('clock', () => afterKafka(kafka, () => examineClock(settings, instruments))),
          ...examineEndpoints(settings, instruments, examination),
          examination.part('transport', async () => [describeTransport(settings.delivery.transport)]),
        ]
      : []),
  ]
  const findings = (await Promise.all(parts)).flat()
  cancel()
  return inOrder(findings)
}

/** Runs checks with one shared time limit. */
class Examination {
  readonly #over: Promise<'over'>
  readonly #limit: DurationMs

  constructor(over: Promise<'over'>, limit: DurationMs) {
    this.#over = over
    this.#limit = limit
  }

  async part(of: CheckKind, check: () => Promise<readonly Judgement[]>, which?: string): Promise<readonly Finding[]> {
    const failed = (detail: string): readonly Judgement[] => [{ level: 'fail', detail, ...(which && { which }) }]
    const judgements = await Promise.race([check(), this.#over]).catch((error: Error) => failed(error.message))
    const limit = durationMs(Math.round(this.#limit / 1_000) * 1_000)
    const late = `the check did not finish within ${formatDuration(limit)}; check the network, then run the command again`
    const results = judgements === 'over' ? failed(late) : judgements
    return results.map(judgement => ({ of, ...judgement }))
  }
}

interface KafkaSeen {
  readonly judgements: readonly Judgement[]
  /** The address of a reachable broker. */
  readonly address: string | undefined
}

async function examineKafka({ settings }: ExaminationInput, { cluster }: Instruments): Promise<KafkaSeen> {
  const reach = (addresses: readonly string[]): Promise<readonly ConnectionResult[]> =>
    Promise.all(
      addresses.map(address =>
        cluster.connect(address).then(
          ({ unsupported }) => ({ address, failure: undefined, unsupported }),
          (error: Error) => ({ address, failure: error.message, unsupported: [] }),
        ),
      ),
    )
  const configured = await reach(settings.kafka.brokers)
  const address = configured.find(({ failure }) => failure === undefined)?.address
  if (address === undefined)
    return { address, judgements: judgeCluster({ configured, advertised: [], brokers: undefined }) }
  const brokers = await cluster.advertisedListeners(address)
  const advertised = await reach(brokers.filter(each => !settings.kafka.brokers.includes(each)))
  return { address, judgements: judgeCluster({ configured, advertised, brokers: brokers.length }) }
}

/**
 * Runs `check` with the address of a reachable broker. Without a reachable broker, returns no
 * results, because another check reports this problem.
 */
async function afterKafka(
  kafka: Promise<KafkaSeen>,
  check: (address: string) => Promise<readonly Judgement[]>,
): Promise<readonly Judgement[]> {
  const address = await kafka.then(
    seen => seen.address,
    () => undefined,
  )
  return address === undefined ? [] : check(address)
}

async function examineAccess(
  { settings, services }: ExaminationInput,
  { cluster }: Instruments,
  address: string,
): Promise<readonly Judgement[]> {
  const needed = accessNeeded({
    services,
    topics: topicNames(settings.topics.prefix),
    tiers: tiersOf(settings.delivery.schedule),
    hasOperatorKey: settings.collector.operatorKey !== undefined,
    hasAttempts: settings.delivery.attemptsTopic !== 'off',
    hasCanary: settings.canary !== undefined,
    hasNotices: settings.notices !== undefined,
    hasConfigTopic: settings.configTopic === true,
    hasJobs: settings.operatorListen !== undefined,
  })
  return judgeAccess(needed, await cluster.deniedAccess(address, needed))
}

async function examineTopics(
  { settings, services }: ExaminationInput,
  { admin }: Instruments,
): Promise<readonly Judgement[]> {
  const { delivery } = settings
  const specs = topicSpecsOf(settings).filter(({ requiredBy }) => requiredBy.some(service => services.has(service)))
  const found = await admin.describe(specs.map(({ name }) => name))
  return [...judgeTopics(topicDrift(specs, found, delivery.window), specs.length), ...judgeAvailability(found)]
}

async function examineRegistry(settings: Settings, { registry }: Instruments): Promise<readonly Judgement[]> {
  const subjects = subjectsOf(settings)
  return judgeSchemas(
    await Promise.all(
      subjects.map(async each => ({ subject: each.subject, ...(await schemaStateOf(registry, each)) })),
    ),
  )
}

async function examineClock({ topics }: Settings, { cluster }: Instruments): Promise<readonly Judgement[]> {
  return [judgeClock(await cluster.readClock(topicNames(topics.prefix).deadLetter))]
}

function examineEndpoints(
  settings: Settings,
  { endpoints, clock }: Instruments,
  examination: Examination,
): readonly Promise<readonly Finding[]>[] {
  const dials: Promise<unknown>[] = []
  return endpointsOf(settings.destinations).map(({ url, which, identity }: Endpoint, index) => {
    const before = dials[index - maxConcurrentDials]
    const dialled = (before ?? Promise.resolve()).then(() => endpoints.dial(url, identity))
    dials.push(dialled)
    return examination.part('endpoint', async () => [{ which, ...judgeEndpoint(await dialled, clock.now()) }], which)
  })
}

function judgeConfiguration({ settings, configTopicError }: ExaminationInput): readonly Judgement[] {
  const { sources, destinations } = settings
  const warnings = warningsOf(settings)
  const webhooks = destinations.reduce((sum, destination) => sum + destination.webhooks.length, 0)
  const detail = [
    countWithNoun(sources.length, 'source'),
    countWithNoun(destinations.length, 'destination'),
    countWithNoun(webhooks, 'webhook'),
  ].join(', ')
  const unread = `the destinations and sources that were created through the operator API were not checked: ${configTopicError}`
  return [
    { level: 'ok', detail },
    ...(configTopicError === undefined ? [] : [{ level: 'fail' as const, detail: unread }]),
    ...warnings.map(warning => ({ level: 'warn' as const, detail: warning })),
  ]
}

/** An endpoint to dial: one origin and TLS identity, which one or several webhooks use. */
export interface Endpoint {
  /** The origin of the URL, without the path, which may hold a secret. */
  readonly url: URL
  /** The webhooks and their origin, for example `crm/0, erp/0 https://hooks.example.com`. */
  readonly which: string
  readonly identity?: TlsIdentity | undefined
}

/**
 * Lists the endpoints of all enabled destinations. Webhooks with the same origin and TLS identity
 * share one endpoint.
 */
export function endpointsOf(destinations: readonly Destination[]): readonly Endpoint[] {
  const webhooks = destinations
    .filter(({ enabled }) => enabled)
    .flatMap(destination =>
      destination.webhooks.map(({ label, url }) => ({
        name: `${destination.id}/${label}`,
        url: new URL(revealed(url)),
        identity: destination.tlsIdentity,
      })),
    )
  const alike = Map.groupBy(webhooks, ({ url, identity }) => `${identity?.id ?? ''} ${url.origin}`)
  return [...alike.values()].flatMap((those): readonly Endpoint[] => {
    const [first] = those
    if (first === undefined) return []
    const { origin } = first.url
    const which = `${namesOf(those.map(({ name }) => name))} ${origin}`
    return [{ url: new URL(origin), which, ...(first.identity && { identity: first.identity }) }]
  })
}

const maxNames = 3

function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(', ')
  return names.length > maxNames ? `${shown} (and ${names.length - maxNames} more)` : shown
}
