import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Settings } from '../../../src/core/settings/settings.ts'
import { registryPath } from './registry.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface DevPlan {
  /** Where to start what the environment does not name. */
  readonly kafkaPort: number | undefined
  readonly registryPort: number | undefined
  /** The local Kafka is one broker, which can hold one replica; undefined: as the file says. */
  readonly replicationFactor: 1 | undefined
}

export type Planned =
  | { readonly kind: 'planned'; readonly plan: DevPlan }
  /** One line for each thing in the file that cannot be had on this machine: `kafka.brokers[0]: message`. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] }

/** What is to be started so that the services find Kafka and the registry where the configuration says. */
export function planDev(settings: Pick<Settings, 'kafka' | 'registry' | 'topics'>, env: Environment): Planned {
  const kafka = env['KAFKA_BROKERS'] ? {} : planKafka(settings.kafka)
  const registry = env['SCHEMA_REGISTRY_URL'] ? {} : planRegistry(settings.registry)
  const replicationFactor = kafka.port !== undefined && settings.topics.replicationFactor > 1 ? 1 : undefined
  const problems = [...(kafka.problems ?? []), ...(registry.problems ?? [])]
  if (problems.length > 0) return { kind: 'refused', problems }
  return { kind: 'planned', plan: { kafkaPort: kafka.port, registryPort: registry.port, replicationFactor } }
}

interface Part {
  readonly port?: number
  readonly problems?: readonly string[]
}

function planKafka({ brokers, tls, sasl }: Settings['kafka']): Part {
  const address = brokers[0] ?? ''
  const instead = 'to use an existing cluster set KAFKA_BROKERS'
  const { hostname, port } = new URL(`kafka://${address}`)
  const problems = [
    ...(isHere(hostname) ? [] : [`kafka.brokers[0]: ${address} is not ${here}; ${instead}`]),
    ...(tls === undefined ? [] : [`kafka.tls: the local Kafka speaks plain text; ${instead}`]),
    ...(sasl === undefined ? [] : [`kafka.sasl: the local Kafka knows no users; ${instead}`]),
  ]
  return { port: Number(port), problems }
}

function planRegistry({ url }: Settings['registry']): Part {
  const instead = 'to use an existing registry set SCHEMA_REGISTRY_URL'
  const { protocol, hostname, port, pathname } = new URL(url)
  const problem =
    protocol !== 'http:'
      ? 'the local registry speaks plain HTTP'
      : !isHere(hostname)
        ? `${hostname} is not ${here}`
        : pathname.replace(/\/$/, '') !== registryPath
          ? `the local registry answers under ${registryPath}`
          : undefined
  if (problem !== undefined) return { problems: [`registry.url: ${problem}; ${instead}`] }
  return { port: Number(port || 80) }
}

const here = '127.0.0.1 or localhost, the only place where we listen'
const isHere = (host: string): boolean => host === 'localhost' || host === '127.0.0.1'

/**
 * What CONFIG and DATA_DIR are relative to: make's own directory, unless it was sent elsewhere with -C (then `w` is among its flags), when
 * the shell's PWD is where the caller stands.
 */
export function callerDirectory(env: Environment, workingDirectory: string): string {
  const { MAKEFLAGS = '', CALLER_PWD } = env
  return /^\w*w/.test(MAKEFLAGS) && CALLER_PWD && existsSync(CALLER_PWD) ? resolve(CALLER_PWD) : workingDirectory
}
