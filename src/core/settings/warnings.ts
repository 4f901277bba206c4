import { isPlainHttp } from '../network/url.ts'
import { revealed, type Secret } from '../secret.ts'
import { unreadSecret } from './configuration-to-settings.ts'
import { isBearerToken, isSendable, sendableHint } from './sendable-keys-and-tokens.ts'
import type { Destination, Settings, Webhook } from './settings.ts'

/** Minimum length, in characters, of a secret that is hard to guess. */
const minSecretLength = 16

/** Maximum number of warnings that a process logs at its start. */
const maxLogged = 100

/** The lines for the log: the first 100 warnings, and the number of the others. */
export const loggedWarningsOf = (settings: Settings): readonly string[] => {
  const warnings = warningsOf(settings)
  if (warnings.length <= maxLogged) return warnings
  return [
    ...warnings.slice(0, maxLogged),
    `${warnings.length - maxLogged} more warnings about the configuration are not logged; run \`hookline check-config\` to see all`,
  ]
}

/** Returns a line for each setting that works but is probably a mistake. */
export function warningsOf(settings: Settings): readonly string[] {
  const { kafka, registry, network, sources, destinations } = settings
  const connected = new Set(destinations.filter(({ enabled }) => enabled).flatMap(destination => destination.sources))
  return [
    ...deprecations(settings),
    ...shortSecrets(settings),
    ...unsendableKeys(settings),
    ...(kafka.sasl !== undefined && kafka.tls === undefined
      ? ['kafka: the login to the brokers is not encrypted, which can reveal the password; set kafka.tls']
      : []),
    ...(registry.auth !== undefined && isPlainHttp(registry.url)
      ? ['registry: the password is sent over http://; use https://']
      : []),
    ...network.allow
      .filter(block => block.endsWith('/0'))
      .map(
        block =>
          `network.allow: ${block} allows every private ${block.includes(':') ? 'IPv6' : 'IPv4'} address; list only the blocks that webhooks need`,
      ),
    ...sources
      // No warning with a config topic, whose destinations may receive the messages of the source.
      .filter(source => !connected.has(source.id) && settings.configTopic !== true)
      .map(
        source =>
          `source ${source.id}: its messages are not delivered, because no enabled destination receives them; add the id of the source to "sources" of a destination`,
      ),
    ...destinations.flatMap(destination => destinationWarnings(destination, settings)),
    ...sharedSecretsOf(destinations),
  ]
}

function destinationWarnings(
  destination: Destination,
  { traces, topics }: Pick<Settings, 'traces' | 'topics'>,
): readonly string[] {
  const { id, enabled, paused, secrets, webhooks, isPlaceholder, lifecycle, policy } = destination
  const plain = webhooks.filter(({ url }) => isPlainHttp(revealed(url)))
  const oauth2 = destination.auth?.oauth2
  const authorized = plain.filter(
    ({ headers }) => oauth2 !== undefined || Object.keys(headers).some(name => /^authorization$/i.test(name)),
  )
  const traced = webhooks.filter(({ traceHeaders }) => traceHeaders).map(({ label }) => label)
  const unusedTls = destination.tlsIdentity === undefined ? [] : plain
  const padded = secrets.some(secret => secret.reveal() !== secret.reveal().trim())
  return [
    ...(enabled
      ? []
      : [
          `destination ${id}: drops its events, because it is disabled; if the configuration disables it, set "enabled: true" to deliver new events; if Hookline has disabled it after failures, run \`hookline destinations enable ${id}\``,
        ]),
    ...(enabled && paused && isPlaceholder !== true
      ? [`destination ${id}: is paused, so its events wait; Hookline dead-letters them ${untilWhen(lifecycle)}`]
      : []),
    ...(plain.length > 0 && secrets.length === 0 && policy?.signing !== 'ed25519'
      ? [
          `destination ${id}: requests are unsigned and sent over http:// (webhook ${labelsOf(plain)}), so receivers cannot verify the sender; set sharedSecret`,
        ]
      : []),
    ...(authorized.length > 0
      ? [
          `destination ${id}: the Authorization header is sent over http:// (webhook ${labelsOf(authorized)}); use https://`,
        ]
      : []),
    ...((policy?.maxConcurrency ?? topics.partitions) < topics.partitions
      ? [
          `destination ${id}: policy.maxConcurrency (${policy?.maxConcurrency}) is less than topics.partitions (${topics.partitions}), so some deliveries can wait in a retry topic for 10 s to several minutes; set policy.maxConcurrency to at least ${topics.partitions}, or accept these waits`,
        ]
      : []),
    ...(unusedTls.length > 0
      ? [`destination ${id}: "tls" has no effect over http:// (webhook ${labelsOf(unusedTls)}); use https://`]
      : []),
    ...(oauth2 !== undefined && isPlainHttp(oauth2.tokenUrl)
      ? [`destination ${id}: the client secret is sent over http:// to auth.oauth2.tokenUrl; use https://`]
      : []),
    ...(traced.length > 0 && traces === undefined
      ? [
          `destination ${id}: has traceHeaders (webhook ${traced.join(', ')}), but "traces" is not set, so Hookline sends no trace headers; set "traces", or remove traceHeaders`,
        ]
      : []),
    ...(padded
      ? [
          `destination ${id}: a shared secret begins or ends with white space, which is part of the secret; remove the white space unless it is intended`,
        ]
      : []),
  ]
}

const untilWhen = (lifecycle: Destination['lifecycle']): string =>
  lifecycle?.pauseKeepsWindow === true
    ? 'when their retry window ends (not counting the first 48h of the pause); set "paused: false" to deliver them'
    : 'when their retry window ends; set "paused: false" to deliver them'

/** Leaves out placeholders of secrets that this process has not read. */
const withoutUnreadSecrets = (secrets: readonly Secret[]): readonly Secret[] =>
  secrets.filter(secret => secret !== unreadSecret)

const labelsOf = (webhooks: readonly Webhook[]): string => webhooks.map(({ label }) => label).join(', ')

/**
 * Warns about secrets that two destinations share: the receiver of one destination can forge or
 * forward requests that the other receiver accepts as genuine.
 */
const sharedSecretsOf = (destinations: readonly Destination[]): readonly string[] => [
  ...destinationsWithSameSecret(destinations, ({ secrets }) => secrets).map(
    ({ id, other }) =>
      `destination ${id}: has the same shared secret as destination ${other}, so each receiver can forge requests to the other receiver; use different secrets`,
  ),
  ...destinationsWithSameSecret(destinations, ({ signingKeys }) => signingKeys ?? []).map(
    ({ id, other }) =>
      `destination ${id}: has the same signing key as destination ${other}, so each receiver accepts requests that the other receiver forwards; use different keys`,
  ),
]

/** Returns each destination that has a secret of an earlier destination (`other`). */
function destinationsWithSameSecret(
  destinations: readonly Destination[],
  secretsOf: (destination: Destination) => readonly Secret[],
): readonly { readonly id: string; readonly other: string }[] {
  const first = new Map<string, string>()
  return destinations.flatMap(destination => {
    const { id } = destination
    const values = [...new Set(withoutUnreadSecrets(secretsOf(destination)).map(secret => secret.reveal()))]
    const other = values.map(value => first.get(value)).find(owner => owner !== undefined)
    for (const value of values) if (!first.has(value)) first.set(value, id)
    return other === undefined ? [] : [{ id, other }]
  })
}

const deprecations = ({ collector }: Settings): readonly string[] =>
  collector.operatorKey === undefined
    ? []
    : [
        "collector.operatorKey: the operator API on the collector's listener is deprecated, and the next minor version removes it; use operator.keys and operator.listen",
      ]

const unsendableKeys = (settings: Settings): readonly string[] => [
  ...settings.sources
    .filter(({ writeKeys }) => withoutUnreadSecrets(writeKeys).some(key => !isSendable(key.reveal())))
    .map(({ id }) => `source ${id}: a write key has characters that some clients cannot send; ${sendableHint}`),
  ...operatorKeysOf(settings)
    .filter(([, keys]) => withoutUnreadSecrets(keys).some(key => !isBearerToken(key.reveal())))
    .map(
      ([what]) =>
        `${what} has a space or a character that HTTP headers cannot contain, so clients cannot send it; use only visible ASCII characters, for example the output of openssl rand -hex 32`,
    ),
]

type NamedSecrets = readonly [what: string, secrets: readonly Secret[]]

const operatorKeysOf = ({ operator, collector: { operatorKey } }: Settings): readonly NamedSecrets[] => [
  ...operator.keys.map(({ name, secrets }) => [`operator key ${name}: a key`, secrets] as const),
  ['collector.operatorKey: the key', operatorKey === undefined ? [] : [operatorKey]],
]

function shortSecrets(settings: Settings): readonly string[] {
  const { sources, destinations } = settings
  const named: readonly NamedSecrets[] = [
    ...sources.map(({ id, writeKeys }) => [`source ${id}: a write key`, writeKeys] as const),
    ...destinations.map(({ id, secrets }) => [`destination ${id}: a shared secret`, secrets] as const),
    ...operatorKeysOf(settings),
  ]
  return named
    .filter(([, secrets]) => withoutUnreadSecrets(secrets).some(secret => secret.reveal().length < minSecretLength))
    .map(
      ([what]) => `${what} has fewer than ${minSecretLength} characters and is easy to guess; use a longer random one`,
    )
}
