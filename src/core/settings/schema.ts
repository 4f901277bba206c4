import { z } from 'zod'
import {
  broker,
  cidr,
  count,
  duration,
  fileName,
  httpUrl,
  id,
  oneOf,
  port,
  says,
  secretText,
  text,
  topicPrefix,
} from './fields.ts'
import { collector, operator, ops } from './listeners.ts'
import { destination, destinationsDirectory, source } from './source-and-destination.ts'

const canary = z
  .strictObject({
    destination: id.describe('Id of the destination that gets the heartbeats; its endpoint has to take them.'),
    every: duration
      .refine(every => every >= 1_000, 'must be at least 1s')
      .prefault('30s')
      .describe('How often one is sent, by one process of the installation.'),
  })
  .optional()
  .describe('Heartbeats through the whole pipeline. Absent: none.')

const sampleText = 'must be a number from 0 to 1'
const traces = z
  .strictObject(
    {
      endpoint: httpUrl
        .optional()
        .describe(
          'Where spans go by OTLP over HTTP; `/v1/traces` follows. Absent: `OTEL_EXPORTER_OTLP_*`, or `http://localhost:4318`.',
        ),
      sample: z
        .number(says(sampleText))
        .min(0, sampleText)
        .max(1, sampleText)
        .default(0.01)
        .describe('Share of the traces that begin here which is kept, 0 to 1. Of others, whoever began them decides.'),
    },
    says('must be a mapping; {} is enough for a collector of traces on this host'),
  )
  .optional()
  .describe('OpenTelemetry traces. Absent: none.')

/*
 * What users write. The types, the JSON Schema and the reference page are made from this; what needs more than one
 * value to judge is a rule (`check-*.ts`). Every secret can be given as itself (best as `${VARIABLE}`) or as `…File`, a file
 * that holds it; file names are relative to the configuration file.
 */

const credentials = {
  username: secretText.optional().describe('User name.'),
  usernameFile: fileName.optional().describe('File that holds the user name.'),
  password: secretText.optional().describe('Password.'),
  passwordFile: fileName.optional().describe('File that holds the password.'),
}

const kafka = z
  .strictObject({
    brokers: z.array(broker).min(1).describe('Brokers to begin with, each `host:port`.'),
    clientId: text.default('hookline').describe("Name of this client in the broker's logs and quotas."),
    tls: z
      .strictObject(
        {
          caFile: fileName.optional().describe('PEM certificates to trust instead of the public roots.'),
          certFile: fileName.optional().describe('PEM certificate of this client; needs `keyFile`.'),
          keyFile: fileName.optional().describe('PEM key of this client, without a passphrase.'),
        },
        says('must be a mapping; {} is enough for brokers with a public certificate'),
      )
      .optional()
      .describe('Speak TLS to the brokers; `{}` is enough for brokers with a public certificate. Absent: plain text.'),
    sasl: z
      .strictObject({
        mechanism: oneOf(['plain', 'scram-sha-256', 'scram-sha-512']).describe('SASL mechanism.'),
        ...credentials,
      })
      .optional()
      .describe('Authenticate to the brokers. Absent: anonymous.'),
  })
  .describe('The Kafka cluster.')

const topics = z
  .strictObject({
    prefix: topicPrefix.default('hookline').describe('Begins the names of all topics and consumer groups.'),
    partitions: count.max(10_000).default(12).describe('Partitions of each topic that is created.'),
    replicationFactor: count.max(32_767).default(3).describe('Replicas of each topic that is created.'),
  })
  .prefault({})
  .describe('Names and sizes of the topics.')

const registry = z
  .strictObject({
    url: httpUrl.describe('Any schema registry with the Confluent REST paths; may carry a path prefix.'),
    ...credentials,
    caFile: fileName.optional().describe('PEM certificates trusted for the registry in addition to the public roots.'),
  })
  .describe('The schema registry.')

/** Least first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

const log = z
  .strictObject({
    level: oneOf(logLevels)
      .default('info')
      .describe('Least level that is logged; also while it runs. `--log-level` beats it until it is changed here.'),
  })
  .prefault({})
  .describe('What is logged.')

const network = z
  .strictObject({
    allow: z
      .array(cidr)
      .default([])
      .describe('Blocks of private addresses that webhooks may have all the same. Metadata addresses never.'),
    ports: z.array(port).min(1).optional().describe('Ports that webhooks may have. Absent: 80, 443 and any from 1024.'),
    caFile: fileName.optional().describe('PEM certificates trusted for webhooks in addition to the public roots.'),
  })
  .prefault({})
  .describe('What webhooks may be called at all.')

export const delivery = z
  .strictObject({
    timeout: duration.prefault('5s').describe('Deadline of one call, from name lookup to response head. At most 5s.'),
    schedule: z
      .array(duration)
      .prefault(['10s', '30s', '1m', '5m', '15m', '30m', '1h', '1h', '1h'])
      .describe('Waits before the second, third, … attempt; never decreasing; empty: no retries.'),
    window: duration.prefault('4h').describe('No attempt begins later than this after the first. At most 4h.'),
    ordering: oneOf(['key', 'none'])
      .default('key')
      .describe('`key`: first attempts for one user and destination go out in order. `none`: as they come.'),
    transport: oneOf(['got', 'undici'])
      .default('got')
      .describe(
        'HTTP client. `got` takes some 170 µs of CPU a delivery, `undici` some 60 µs; what is promised is the same.',
      ),
    maxInFlight: count.max(100_000).default(512).describe('Calls at once in one process.'),
    perWebhook: count.max(100_000).default(64).describe('Calls at once to one webhook in one process.'),
    perHost: count.max(100_000).default(128).describe('Calls to one host in one process, shared fairly.'),
    attemptsTopic: z
      .boolean()
      .default(false)
      .describe('Write a record for each attempt to `<prefix>.attempts`, for `hookline tail`. Best effort.'),
  })
  .prefault({})
  .describe('Attempts, retries and limits.')

const payload = z
  .strictObject({
    userAgent: z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, "must be a product token: letters, digits and !#$%&'*+.^_`|~-")
      .default('Hookline')
      .describe('Product token of the User-Agent header; `/1.0` follows.'),
    messageIdHeader: z.boolean().default(true).describe('Send X-Message-Id, by which receivers drop duplicates.'),
    anonymousId: oneOf(['fallback', 'always'])
      .default('fallback')
      .describe('`fallback`: the body has anonymousId only when there is no userId. `always`: beside it too.'),
    standardWebhooks: z.boolean().default(false).describe('Send the Standard Webhooks headers as well.'),
  })
  .prefault({})
  .describe('What requests look like.')

const audiences = z
  .strictObject({
    emitPerSecond: count.default(500).describe('Identify messages a second that syncs may emit, in one process.'),
    list: z
      .array(
        z.strictObject({
          name: text.describe('Name of the audience or computed trait.'),
          kind: oneOf(['audience', 'trait']).default('audience').describe('Membership, or a computed trait.'),
          destinations: z.array(id).describe('Ids of the destinations that get it.'),
        }),
      )
      .default([])
      .describe('Every audience and who gets it; a sync of another name is refused.'),
  })
  .prefault({})
  .describe('Audiences and computed traits.')

/** The whole configuration file. */
export const configuration = z
  .strictObject({
    $schema: z.string().optional().describe('For editors.'),
    kafka,
    topics,
    registry,
    collector,
    operator,
    ops,
    log,
    network,
    delivery,
    payload,
    sources: z.array(source).min(1).describe('What sends messages.'),
    destinations: z.array(destination).default([]).describe('Where messages are delivered to.'),
    destinationsFrom: z
      .union(
        [fileName, z.array(destinationsDirectory).min(1)],
        says('must be text, or a list of mappings with directory and sources'),
      )
      .optional()
      .describe(
        'Directory with more destinations, one a file (.yaml, .yml, .json), or a list of such directories. Their files take nothing from the environment, and name only files below their directory.',
      ),
    audiences,
    canary,
    traces,
  })
  .meta({ title: 'Hookline configuration' })

/** As it is written. */
export type ConfigurationInput = z.input<typeof configuration>
/** Parsed, with defaults, before the files that it names are put in. */
export type Configuration = z.output<typeof configuration>
