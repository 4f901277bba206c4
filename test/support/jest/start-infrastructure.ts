import { findOrStartInfrastructure } from '../../../deploy/tools/local/infrastructure.ts'
import { scanBroker } from '../secret-scan/scan-broker.ts'

/** Passes the stop function to the teardown, because jest loads setup and teardown separately. */
export const held = globalThis as typeof globalThis & {
  stopInfrastructure?: () => Promise<void>
  findSecretsOfRun?: () => Promise<readonly string[]>
}

const forTests = {
  // Lets tests with a dead member use a session timeout below Kafka's minimum of 6 s.
  'group.min.session.timeout.ms': '500',
  // A machine that pauses for seconds must not cause leader elections, because nothing restarts
  // this broker.
  'broker.session.timeout.ms': '60000',
}

/**
 * Jest's globalSetup: starts one Kafka and one schema registry for the run. Suites find them in
 * KAFKA_BROKERS and SCHEMA_REGISTRY_URL.
 */
export default async function startInfrastructure(): Promise<void> {
  const { kafka, registry, stop } = await findOrStartInfrastructure({ kafka: { properties: forTests } })
  const giveBack = setEnvironment({ KAFKA_BROKERS: kafka.brokers.join(','), SCHEMA_REGISTRY_URL: registry.url })
  const { brokers, logDir } = kafka
  // Without a log directory, only a part of the data could be read.
  held.findSecretsOfRun = async () => (logDir === undefined ? [] : scanBroker(logDir, brokers))
  held.stopInfrastructure = async () => {
    giveBack()
    await stop()
  }
}

/**
 * Sets variables and returns a function that restores the earlier values. Otherwise the next run in
 * watch mode would treat this run's broker as one that the user started.
 */
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
