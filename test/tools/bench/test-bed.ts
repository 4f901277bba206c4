import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBroker } from '../../../deploy/tools/local/broker.ts'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { findOrStartRegistry } from '../../../deploy/tools/local/kafka-and-registry.ts'
import type { Pinning } from './cpu-pinning.ts'
import { type Receiver, startReceiver } from './receiver/receiver.ts'

export interface Stage {
  readonly brokers: readonly string[]
  readonly registryUrl: string
  readonly receiver: Receiver
  /** The certificate of the authority that the forwarders trust, if the receiver uses HTTPS. */
  readonly authorityFile?: string
  readonly pinning: Pinning
  /** For configurations, logs and profiles. */
  readonly directory: string
  close(): Promise<void>
}

/**
 * Flags for throughput. The JVM uses the last of conflicting flags, so these override the defaults
 * for a fast start.
 */
const throughputJvm = ['-XX:TieredStopAtLevel=4', '-Xmx512m']

/**
 * Starts a schema registry, a receiver and, unless KAFKA_BROKERS names one, a broker.
 * @throws when one cannot start
 */
export async function openStage(pinning: Pinning, env: NodeJS.ProcessEnv = process.env): Promise<Stage> {
  const ends: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    const directory = await mkdtemp(join(tmpdir(), 'hookline-bench-'))
    ends.push(() => rm(directory, { recursive: true, force: true }))
    const brokers = await brokersOf(env, join(directory, 'kafka'), ends)
    const registry = await findOrStartRegistry({ env })
    ends.push(registry.stop)
    const receiver = await startReceiver()
    ends.push(receiver.stop)
    return { brokers, registryUrl: registry.url, receiver, pinning, directory, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function brokersOf(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  ends: (() => Promise<unknown>)[],
): Promise<readonly string[]> {
  const named = (env['KAFKA_BROKERS'] ?? '').split(',').flatMap(each => each.trim() || [])
  if (named.length > 0) return named
  const broker = await startBroker({ dataDir, port: await freePorts(1), jvm: throughputJvm, throwAway: true })
  ends.push(() => broker.stop())
  return [broker.address]
}
