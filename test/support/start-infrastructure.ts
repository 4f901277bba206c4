import {
  findOrStartKafka,
  findOrStartRegistry,
  type Kafka,
  type SchemaRegistry,
} from '../../deploy/local/infrastructure.ts'

export interface Infrastructure {
  readonly started: readonly (Kafka | SchemaRegistry)[]
  /** What the environment said before. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Where the setup leaves for the teardown what it started: jest loads the two apart. */
export const held = globalThis as typeof globalThis & { hooklineInfrastructure?: Infrastructure }

/** Dead members of a group are noticed after half a second if a test asks for it. */
const forTests = { 'group.min.session.timeout.ms': '500' }

/** Jest's globalSetup: one Kafka and one schema registry for the run, which the suites find in KAFKA_BROKERS and SCHEMA_REGISTRY_URL. */
export default async function startInfrastructure(): Promise<void> {
  const [kafka, registry] = await Promise.allSettled([
    findOrStartKafka({ properties: forTests }),
    findOrStartRegistry(),
  ])
  if (kafka.status === 'rejected' || registry.status === 'rejected') {
    const results = [kafka, registry]
    await Promise.all(results.map(each => (each.status === 'fulfilled' ? each.value.stop() : undefined)))
    const reasons = results.flatMap(each => (each.status === 'rejected' ? [(each.reason as Error).message] : []))
    throw new Error(reasons.join('\n'))
  }
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = process.env
  held.hooklineInfrastructure = { started: [kafka.value, registry.value], env: { KAFKA_BROKERS, SCHEMA_REGISTRY_URL } }
  process.env['KAFKA_BROKERS'] = kafka.value.brokers.join(',')
  process.env['SCHEMA_REGISTRY_URL'] = registry.value.url
}
