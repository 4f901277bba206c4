import { z } from 'zod'
import { attemptsTopic } from './schema-of-attempts-topic.ts'
import { collector, operator, ops } from './schema-of-http-servers.ts'
import { network } from './schema-of-network-and-tls.ts'
import { destination, destinationsDirectory, source } from './schema-of-source-and-destination.ts'
import {
  broker,
  count,
  duration,
  fileName,
  httpUrl,
  id,
  oneOf,
  secretText,
  text,
  topicPrefix,
  withMessage,
} from './value-types.ts'

const canary = z
  .strictObject({
    destination: id.describe(
      'Id of the destination that receives the canary messages. The endpoint of this destination must accept the messages.',
    ),
    every: duration
      .refine(every => every >= 1_000, 'must be at least 1s')
      .prefault('30s')
      .describe('Time between two canary messages. One process of the installation sends them.'),
  })
  .optional()
  .describe(
    'Canary messages, which Hookline sends to one destination to check the path from Kafka to the endpoint. Absent: Hookline sends none.',
  )

const notices = z
  .strictObject({
    destination: id.describe('Id of the destination that receives the notices.'),
  })
  .optional()
  .describe(
    'Notices: messages of type `track` that Hookline sends to one destination. They report dead letters, changes through the operator API, and destinations that fail, recover, respond with 410 Gone or are disabled. Absent: Hookline sends none.',
  )

const sampleText = 'must be a number from 0 to 1'
const traces = z
  .strictObject(
    {
      endpoint: httpUrl
        .optional()
        .describe(
          'OTLP/HTTP endpoint for spans. Hookline appends `/v1/traces` to this URL. Absent: the value of the environment variables `OTEL_EXPORTER_OTLP_*`, or `http://localhost:4318` if they are not set.',
        ),
      sample: z
        .number(withMessage(sampleText))
        .min(0, sampleText)
        .max(1, sampleText)
        .default(0.01)
        .describe(
          'Share of traces to sample, from 0 to 1. If the sender of a message started the trace, the sender decides whether the trace is sampled.',
        ),
    },
    withMessage('must be a mapping; {} is enough when the OTLP endpoint is on this host'),
  )
  .optional()
  .describe('OpenTelemetry traces. Absent: no traces.')

/*
 * The types, the JSON Schema and the reference page come from this schema. Rules that concern
 * several values are in `check-*.ts`.
 */

const credentials = {
  username: secretText.optional().describe('User name with which Hookline logs in.'),
  usernameFile: fileName.optional().describe('File that contains the user name.'),
  password: secretText.optional().describe('Password with which Hookline logs in.'),
  passwordFile: fileName.optional().describe('File that contains the password.'),
}

const kafka = z
  .strictObject({
    brokers: z.array(broker).min(1).describe('Bootstrap brokers, each `host:port`.'),
    clientId: text
      .default('hookline')
      .describe('Client id that Hookline sends to the brokers. Brokers use the client id in logs and for quotas.'),
    tls: z
      .strictObject(
        {
          caFile: fileName
            .optional()
            .describe('File with the CA certificates (PEM) to trust instead of the public CAs.'),
          certFile: fileName.optional().describe('File with the certificate (PEM) of this client; requires `keyFile`.'),
          keyFile: fileName
            .optional()
            .describe('File with the private key (PEM) of this client, without a passphrase.'),
        },
        withMessage('must be a mapping; {} is enough if a public CA issued the certificates of the brokers'),
      )
      .optional()
      .describe('TLS to the brokers. `{}` is enough if a public CA issued their certificates. Absent: no TLS.'),
    sasl: z
      .strictObject({
        mechanism: oneOf(['plain', 'scram-sha-256', 'scram-sha-512']).describe(
          'SASL mechanism with which Hookline logs in to the brokers.',
        ),
        ...credentials,
      })
      .optional()
      .describe('SASL authentication to the brokers. Absent: no authentication.'),
  })
  .describe('The Kafka cluster.')

const topics = z
  .strictObject({
    prefix: topicPrefix.default('hookline').describe('Prefix of the names of all topics and consumer groups.'),
    partitions: count
      .max(10_000)
      .default(12)
      .describe(
        'Number of partitions of each topic that Hookline creates. There are two exceptions. The topic `<prefix>.status` gets one partition. If the events topic already exists, new retry, ledger and audience topics get as many partitions as the events topic has.',
      ),
    replicationFactor: count.max(32_767).default(3).describe('Replication factor of each topic that Hookline creates.'),
  })
  .prefault({})
  .describe('Name prefix, partitions and replication factor of the topics.')

const registry = z
  .strictObject({
    url: httpUrl.describe('URL of a schema registry with the Confluent REST API. The URL may have a path prefix.'),
    ...credentials,
    caFile: fileName
      .optional()
      .describe('File with CA certificates (PEM) to trust for the registry in addition to the public CAs.'),
  })
  .describe('The schema registry.')

/** The log levels in ascending order of severity. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

const log = z
  .strictObject({
    level: oneOf(logLevels)
      .default('info')
      .describe(
        'Minimum log level. The option `--log-level` of `hookline run` takes precedence until this value changes in the file.',
      ),
  })
  .prefault({})
  .describe('Logging.')

export const delivery = z
  .strictObject({
    timeout: duration
      .prefault('5s')
      .describe('Timeout of one request, from DNS lookup to response headers. At most 5s.'),
    schedule: z
      .array(duration)
      .prefault(['10s', '30s', '1m', '5m', '15m', '30m', '1h', '1h', '1h'])
      .describe(
        'Waits before the second, third and further attempts. No wait may be shorter than the previous wait. Empty list: no retries.',
      ),
    window: duration
      .prefault('4h')
      .describe(
        'Retry window, at most 4h. The window begins when Hookline first reads the event. The window limits only retries: a first attempt can start after the window ends.',
      ),
    ordering: oneOf(['key', 'none'])
      .default('key')
      .describe(
        '`key`: for each user and destination, Hookline makes the first attempt of each event in the order of the events in Kafka. `none`: in any order.',
      ),
    transport: oneOf(['got', 'undici'])
      .default('got')
      .describe(
        'HTTP client. A delivery over HTTPS with `undici` needs about two fifths of the CPU time of a delivery with `got`. But `undici` sends some header names in lower case.',
      ),
    maxInFlight: count
      .max(100_000)
      .default(512)
      .describe('Maximum number of concurrent requests that one process sends.'),
    perWebhook: count
      .max(100_000)
      .default(64)
      .describe('Maximum number of concurrent requests that one process sends to one webhook.'),
    perHost: count
      .max(100_000)
      .default(128)
      .describe(
        'Maximum number of concurrent requests that one process sends to one host. The destinations on this host share this limit fairly.',
      ),
    attemptsTopic,
  })
  .prefault({})
  .describe('Attempts, retries and limits.')

const payload = z
  .strictObject({
    userAgent: z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, "must be 1 to 64 letters, digits or !#$%&'*+.^_`|~-")
      .default('Hookline')
      .describe('Product name in the User-Agent header of requests. Hookline appends the version `/1.0`.'),
    messageIdHeader: z
      .boolean()
      .default(true)
      .describe('`true`: requests have the header X-Message-Id, by which receivers detect duplicates.'),
    anonymousId: oneOf(['fallback', 'always'])
      .default('fallback')
      .describe(
        '`fallback`: the body has `anonymousId` only if the message has no `userId`. `always`: the body has `anonymousId` even if the message has a `userId`.',
      ),
    standardWebhooks: z
      .boolean()
      .default(false)
      .describe(
        '`true`: requests also have the Standard Webhooks headers (`webhook-id`, `webhook-timestamp` and `webhook-signature`). This applies only to destinations with a shared secret or with `policy.signing: ed25519`.',
      ),
  })
  .prefault({})
  .describe('Body and headers of the requests that Hookline sends to webhooks.')

/**
 * Maximum number of characters of an audience's name. The limit must not exceed
 * `maxOriginIdLength`: the name is the origin id of the audience's events, and the dispatcher
 * refuses events with a longer origin id.
 */
const maxAudienceNameLength = 500

const audiences = z
  .strictObject({
    emitPerSecond: count
      .default(500)
      .describe('Maximum number of identify messages per second that one process writes for syncs.'),
    list: z
      .array(
        z.strictObject({
          name: text
            .max(maxAudienceNameLength, `must have at most ${maxAudienceNameLength} characters`)
            .describe('Name of the audience or computed trait.'),
          kind: oneOf(['audience', 'trait'])
            .default('audience')
            .describe(
              '`audience`: each user is a member or not. `trait`: computed trait, which has a value for each user.',
            ),
          destinations: z.array(id).describe('Ids of the destinations that receive the audience or computed trait.'),
        }),
      )
      .default([])
      .describe('Audiences and their destinations. A sync of an audience that is not in this list is rejected.'),
  })
  .prefault({})
  .describe(
    'Audiences (lists of users that destinations should know) and computed traits (audiences with a value for each user). A sync compares a list that you upload with what the destinations have, and sends them the differences as identify messages.',
  )

export const configuration = z
  .strictObject({
    $schema: z.string().optional().describe('URL of the JSON Schema, for editors.'),
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
    sources: z.array(source).min(1).describe('Senders of messages, each with its own write keys.'),
    destinations: z.array(destination).default([]).describe('Receivers of events, each with one to five webhooks.'),
    destinationsFrom: z
      .union(
        [fileName, z.array(destinationsDirectory).min(1)],
        withMessage('must be a directory, or a list of mappings { directory: …, sources: … }; "sources" is optional'),
      )
      .optional()
      .describe(
        'Directory with further destinations, one in each file (.yaml, .yml or .json), or a list of mappings, each with the key `directory`. The files cannot use environment variables, and can refer only to files below their directory. Two files must not have the same destination id.',
      ),
    audiences,
    canary,
    notices,
    traces,
  })
  .meta({ title: 'Hookline configuration' })

/** The configuration as users write it, without defaults. */
export type ConfigurationInput = z.input<typeof configuration>
/** The parsed configuration, with defaults. It has the names of files, not their contents. */
export type Configuration = z.output<typeof configuration>
