import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findOrStartInfrastructure } from '../../../deploy/tools/local/kafka-and-registry.ts'
import { untilGroupsAreLoaded } from '../kafka/admin.ts'
import { scanBroker } from '../secret-scan/scan-broker.ts'

/** Passes functions from the setup to the teardown, because jest loads the two files separately. */
export const held = globalThis as typeof globalThis & {
  stopInfrastructure?: () => Promise<void>
  findSecretsOfRun?: () => Promise<readonly string[]>
}

const forTests = {
  // Permits session timeouts below Kafka's minimum of 6 s, for tests in which a member crashes.
  'group.min.session.timeout.ms': '500',
  // Without a heartbeat for this time, a broker's partitions lose their leader. 60 s, because the
  // machine may pause for several seconds.
  'broker.session.timeout.ms': '60000',
}

/**
 * Java option of the broker: the tests create thousands of partitions, and with the default heap of
 * 256 MB, garbage collection took a tenth of the machine's CPU time.
 */
const largeHeap = ['-Xmx1g']

/**
 * Jest's globalSetup. The processes of tests share compiled modules (NODE_COMPILE_CACHE), because
 * compilation takes half of the CPU time of their start.
 */
export default async function startInfrastructure(): Promise<void> {
  const { kafka, registry, stop } = await findOrStartInfrastructure({
    kafka: { properties: forTests, jvm: largeHeap },
  })
  const compiled = await mkdtemp(join(tmpdir(), 'hookline-compiled-'))
  const giveBack = setEnvironment({
    KAFKA_BROKERS: kafka.brokers.join(','),
    SCHEMA_REGISTRY_URL: registry.url,
    NODE_COMPILE_CACHE: compiled,
  })
  const end = async (): Promise<void> => {
    giveBack()
    await stop()
    await rm(compiled, { recursive: true, force: true })
  }
  const { brokers, logDir } = kafka
  await untilGroupsAreLoaded(brokers).catch(async (error: unknown) => {
    await end()
    throw error
  })
  // The scan for secrets needs the directory of the broker's files, which is known only if this
  // process started the broker.
  if (logDir === undefined)
    process.stderr.write('the topics are not scanned for secrets, because this run uses a Kafka that is not its own\n')
  held.findSecretsOfRun = async () => (logDir === undefined ? [] : scanBroker(logDir, brokers))
  held.stopInfrastructure = end
}

/**
 * Sets environment variables. Returns a function that restores the earlier values: otherwise, the
 * next run in watch mode would treat this run's broker as the user's.
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
