import { revealed, type Secret } from '../units.ts'
import { unread } from './resolve.ts'
import type { Destination, Settings, Webhook } from './settings.ts'

/** A shorter secret can be guessed by trying. */
const secretLength = 16

/** What works but is probably not meant, one line each. */
export function warningsOf(settings: Settings): readonly string[] {
  const { kafka, registry, network, sources, destinations, traces } = settings
  const connected = new Set(destinations.filter(({ enabled }) => enabled).flatMap(destination => destination.sources))
  return [
    ...deprecations(settings),
    ...shortSecrets(settings),
    ...(kafka.sasl !== undefined && kafka.tls === undefined
      ? ['kafka: the password goes to the brokers without TLS']
      : []),
    ...(registry.auth !== undefined && isPlain(registry.url)
      ? ['registry: the password goes over http://, use https://']
      : []),
    ...network.allow
      .filter(block => block.endsWith('/0'))
      .map(block => `network: ${block} allows every private address`),
    ...sources
      .filter(source => !connected.has(source.id))
      .map(source => `source ${source.id}: no enabled destination gets its messages`),
    ...destinations.flatMap(destination => {
      const { id, enabled, paused, secrets, webhooks, isHeld } = destination
      const plain = webhooks.filter(({ url }) => isPlain(revealed(url)))
      const authorized = plain.filter(({ headers }) => Object.keys(headers).some(name => /^authorization$/i.test(name)))
      const traced = webhooks.filter(({ traceHeaders }) => traceHeaders).map(({ label }) => label)
      const padded = secrets.some(secret => secret.reveal() !== secret.reveal().trim())
      return [
        ...(enabled ? [] : [`destination ${id}: is not enabled, its events are dropped`]),
        ...(enabled && paused && isHeld !== true
          ? [`destination ${id}: is paused, its events wait until their retry window is over`]
          : []),
        ...(plain.length > 0 && secrets.length === 0
          ? [`destination ${id}: unsigned over http:// (webhook ${labelsOf(plain)}), receivers cannot tell who calls`]
          : []),
        ...(authorized.length > 0
          ? [
              `destination ${id}: the Authorization header goes over http:// (webhook ${labelsOf(authorized)}), use https://`,
            ]
          : []),
        ...(traced.length > 0 && traces === undefined
          ? [`destination ${id}: has traceHeaders (webhook ${traced.join(', ')}), but there are no traces`]
          : []),
        ...(padded ? [`destination ${id}: a shared secret begins or ends with white space`] : []),
      ]
    }),
    ...sharedSecretsOf(destinations),
  ]
}

const isPlain = (url: string): boolean => /^http:/i.test(url)

/** Those that this process has. */
const known = (secrets: readonly Secret[]): readonly Secret[] => secrets.filter(secret => secret !== unread)

const labelsOf = (webhooks: readonly Webhook[]): string => webhooks.map(({ label }) => label).join(', ')

/** What one receiver got is genuine for the other: each could forge requests to it. */
function sharedSecretsOf(destinations: readonly Destination[]): readonly string[] {
  const first = new Map<string, string>()
  return destinations.flatMap(({ id, secrets }) => {
    const values = [...new Set(known(secrets).map(secret => secret.reveal()))]
    const shared = values.map(value => first.get(value)).find(other => other !== undefined)
    for (const value of values) if (!first.has(value)) first.set(value, id)
    return shared === undefined
      ? []
      : [`destination ${id}: has a shared secret of destination ${shared}, give each its own`]
  })
}

const deprecations = ({ collector }: Settings): readonly string[] =>
  collector.operatorKey === undefined
    ? []
    : [
        "collector.operatorKey: the operator API on the collector's listener is deprecated, the next minor version removes it; use operator.keys, whose listener is operator.listen",
      ]

function shortSecrets({ sources, destinations, operator, collector }: Settings): readonly string[] {
  const { operatorKey } = collector
  const named: readonly (readonly [what: string, secrets: readonly Secret[]])[] = [
    ...sources.map(({ id, writeKeys }) => [`source ${id}: a write key`, writeKeys] as const),
    ...destinations.map(({ id, secrets }) => [`destination ${id}: a shared secret`, secrets] as const),
    ...operator.keys.map(({ name, secrets }) => [`operator key ${name}: a key`, secrets] as const),
    ['collector.operatorKey: it', operatorKey === undefined ? [] : [operatorKey]],
  ]
  return named
    .filter(([, secrets]) => known(secrets).some(secret => secret.reveal().length < secretLength))
    .map(([what]) => `${what} has fewer than ${secretLength} characters and is easy to guess; make a longer random one`)
}
