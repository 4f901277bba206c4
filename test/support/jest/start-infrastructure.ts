import { findOrStartInfrastructure } from '../../../deploy/tools/local/infrastructure.ts'

/** Where the setup leaves what the teardown has to do: jest loads the two apart. */
export const held = globalThis as typeof globalThis & { stopInfrastructure?: () => Promise<void> }

const forTests = {
  // A test of a member that dies need not wait for Kafka's shortest session of six seconds.
  'group.min.session.timeout.ms': '500',
  // Nobody restarts this broker. A machine that stands still for seconds must not take all leaders away from under the tests.
  'broker.session.timeout.ms': '60000',
}

/** Jest's globalSetup: one Kafka and one schema registry for the run, which the suites find in KAFKA_BROKERS and SCHEMA_REGISTRY_URL. */
export default async function startInfrastructure(): Promise<void> {
  const { kafka, registry, stop } = await findOrStartInfrastructure({ kafka: { properties: forTests } })
  const giveBack = setEnvironment({ KAFKA_BROKERS: kafka.brokers.join(','), SCHEMA_REGISTRY_URL: registry.url })
  held.stopInfrastructure = async () => {
    giveBack()
    await stop()
  }
}

/** The next run of watch mode must not take this run's broker for one that the user named. */
function setEnvironment(variables: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(variables).map(name => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
