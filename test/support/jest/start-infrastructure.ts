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
  // Permits session timeouts below Kafka's minimum of 6 s, for tests with a dead member.
  'group.min.session.timeout.ms': '500',
  // Time without a heartbeat after which a broker loses its session. The partitions of the broker
  // then lose their leader. `server-properties.ts` sets 3 s, so that a broker can restart soon
  // after a crash. The broker of the tests does not restart. With 60 s, it keeps its session even
  // if the machine pauses for several seconds.
  'broker.session.timeout.ms': '60000',
}

/**
 * The tests create thousands of partitions, and each partition takes memory of the broker. With the
 * default of 256 MB, the memory was full after ten minutes, and the broker spent a tenth of the
 * machine's CPU time on garbage collection.
 */
const largeHeap = ['-Xmx1g']

/**
 * Jest's globalSetup: starts one Kafka and one schema registry for the run. The processes that
 * tests start share compiled modules (NODE_COMPILE_CACHE). Otherwise, compilation takes half of the
 * CPU time of their start.
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
  // The scan for secrets reads the files of the broker in `logDir`. This directory is known only if
  // this process started the broker from Kafka's jars. If it is not known, the scan is left out.
  if (logDir === undefined)
    process.stderr.write('the topics are not scanned for secrets, because this run uses a Kafka that is not its own\n')
  held.findSecretsOfRun = async () => (logDir === undefined ? [] : scanBroker(logDir, brokers))
  held.stopInfrastructure = end
}

/**
 * Sets environment variables. Returns a function that restores the earlier values. Restore them
 * after each run: otherwise, the next run in watch mode would treat the broker of this run as one
 * that the user started.
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
