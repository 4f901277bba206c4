import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Settings } from '../../../src/core/settings/settings.ts'
import { registryPath } from './schema-registry.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface DevPlan {
  /** Port on which to start Kafka. `undefined` when KAFKA_BROKERS names an existing cluster. */
  readonly kafkaPort: number | undefined
  readonly registryPort: number | undefined
  /**
   * The replication factor of the topics on a local broker. `undefined`: that of the configuration.
   */
  readonly replicationFactor: 1 | undefined
}

export type Planned =
  | { readonly kind: 'planned'; readonly plan: DevPlan }
  /** One line for each setting that a local server cannot satisfy: `kafka.brokers[0]: message`. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] }

/** Plans which servers to start so that Kafka and the registry are at the configured addresses. */
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
  const instead = 'change this value, or set KAFKA_BROKERS to use an existing cluster'
  const { hostname, port } = new URL(`kafka://${address}`)
  const problems = [
    ...(isHere(hostname) ? [] : [`kafka.brokers[0]: ${address} is not ${here}; ${instead}`]),
    ...(tls === undefined ? [] : [`kafka.tls: the local Kafka does not support TLS; ${instead}`]),
    ...(sasl === undefined ? [] : [`kafka.sasl: the local Kafka does not support SASL; ${instead}`]),
  ]
  return { port: Number(port), problems }
}

function planRegistry({ url }: Settings['registry']): Part {
  const instead = 'change this value, or set SCHEMA_REGISTRY_URL to use an existing registry'
  const { protocol, hostname, port, pathname } = new URL(url)
  const problem =
    protocol !== 'http:'
      ? 'the local registry does not support HTTPS'
      : !isHere(hostname)
        ? `${hostname} is not ${here}`
        : pathname.replace(/\/$/, '') !== registryPath
          ? `the path must be ${registryPath}, as in the local registry`
          : undefined
  if (problem !== undefined) return { problems: [`registry.url: ${problem}; ${instead}`] }
  return { port: Number(port || 80) }
}

const here = '127.0.0.1 or localhost, where local servers listen'
const isHere = (host: string): boolean => host === 'localhost' || host === '127.0.0.1'

/**
 * The directory that CONFIG and DATA_DIR are relative to: the working directory, or with `make -C`
 * (the flag `w` in MAKEFLAGS) the directory of the calling shell (CALLER_PWD).
 */
export function callerDirectory(env: Environment, workingDirectory: string): string {
  const { MAKEFLAGS = '', CALLER_PWD } = env
  return /^\w*w/.test(MAKEFLAGS) && CALLER_PWD && existsSync(CALLER_PWD) ? resolve(CALLER_PWD) : workingDirectory
}
