import { z } from 'zod'
import { Secret } from '../../../src/core/secret.ts'
import { issueText } from '../../../src/core/settings/check-against-schema.ts'
import { nearestName } from '../../../src/core/settings/key-and-name-hints.ts'
import type { Credentials, Settings } from '../../../src/core/settings/settings.ts'
import { formatPath, type Path } from '../../../src/core/settings/settings-problem.ts'
import { broker, httpUrl, id, oneOf, text, topicPrefix } from '../../../src/core/settings/value-types.ts'
import { ConfigError } from '../../client/src/errors.ts'
import type { KafkaTransportOptions } from './kafka-transport-options.ts'

/** The validated options, in the form that the adapters use. */
export interface KafkaTransportSettings extends Pick<Settings, 'kafka' | 'registry'> {
  readonly sourceId: string
  readonly topicPrefix: string
}

const registry = z.strictObject({ url: httpUrl, username: text.optional(), password: text.optional() })
const tls = z.strictObject({ ca: text.optional(), cert: text.optional(), key: text.optional() })
const sasl = z.strictObject({
  mechanism: oneOf(['plain', 'scram-sha-256', 'scram-sha-512']),
  username: text,
  password: text,
})

const areBoth = (one: unknown, other: unknown): boolean => (one === undefined) === (other === undefined)

const options = z.strictObject({
  source: id,
  brokers: z.array(broker).min(1),
  registry: registry.refine(
    ({ username, password }) => areBoth(username, password),
    "must have both 'username' and 'password', or neither of them",
  ),
  topicPrefix: topicPrefix.default('hookline'),
  clientId: text.default('hookline-client'),
  tls: tls
    .refine(({ cert, key }) => areBoth(cert, key), "must have both 'cert' and 'key', or neither of them")
    .optional(),
  sasl: sasl.optional(),
} satisfies Record<keyof KafkaTransportOptions, z.ZodType>)

/**
 * The known option names of each object, for errors about an unknown name. Each key is the path of
 * an object; `''` is the outermost object.
 */
const names: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(options.shape),
  registry: Object.keys(registry.shape),
  tls: Object.keys(tls.shape),
  sasl: Object.keys(sasl.shape),
}

/**
 * Validates the options, with the value types and error texts of Hookline's configuration file.
 * @throws ConfigError for the first invalid option
 */
export function kafkaTransportSettings(given: KafkaTransportOptions): KafkaTransportSettings {
  const result = options.safeParse(given, { error: issue => issueText(issue) })
  if (!result.success) throw configErrorOf(result.error.issues[0] as z.core.$ZodIssue)
  const { source, registry, brokers, clientId, tls, sasl, topicPrefix } = result.data
  return {
    sourceId: source,
    topicPrefix,
    kafka: {
      brokers,
      clientId,
      tls: tls && { ca: tls.ca, cert: tls.cert, key: tls.key === undefined ? undefined : new Secret(tls.key) },
      sasl: sasl && { mechanism: sasl.mechanism, ...(credentialsOf(sasl) as Credentials) },
    },
    registry: { url: registry.url, auth: credentialsOf(registry) },
  }
}

function credentialsOf({
  username,
  password,
}: {
  username?: string | undefined
  password?: string | undefined
}): Credentials | undefined {
  if (username === undefined || password === undefined) return undefined
  return { username: new Secret(username), password: new Secret(password) }
}

function configErrorOf(issue: z.core.$ZodIssue): ConfigError {
  const path = issue.path as Path
  if (issue.code !== 'unrecognized_keys') {
    const name = formatPath(path) || 'source'
    return new ConfigError(name, `'${name}' ${issue.message}.`)
  }
  const [key = ''] = issue.keys
  const name = formatPath([...path, key])
  const known = names[formatPath(path)] ?? []
  const near = nearestName(key, known)
  const advice = near === undefined ? `possible: ${known.join(', ')}` : `did you mean '${near}'?`
  return new ConfigError(name, `unknown setting '${name}' (${advice})`)
}
