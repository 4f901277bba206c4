import type { Settings } from '../settings.ts'

/** What works but is probably not meant, one line each. */
export function warningsOf(settings: Settings): readonly string[] {
  const { kafka, network, sources, destinations, traces } = settings
  const connected = new Set(destinations.filter(({ enabled }) => enabled).flatMap(destination => destination.sources))
  return [
    ...(kafka.sasl !== undefined && kafka.tls === undefined
      ? ['kafka: the password goes to the brokers without TLS']
      : []),
    ...network.allow
      .filter(block => block.endsWith('/0'))
      .map(block => `network: ${block} allows every private address`),
    ...sources
      .filter(source => !connected.has(source.id))
      .map(source => `source ${source.id}: no enabled destination gets its messages`),
    ...destinations.flatMap(destination => {
      const { id, enabled, paused, secrets, webhooks } = destination
      const plain = webhooks.filter(({ url }) => /^http:/i.test(url)).map(({ label }) => label)
      const traced = webhooks.filter(({ traceHeaders }) => traceHeaders).map(({ label }) => label)
      const padded = secrets.some(secret => secret.reveal() !== secret.reveal().trim())
      return [
        ...(enabled ? [] : [`destination ${id}: is not enabled, its events are dropped`]),
        ...(enabled && paused
          ? [`destination ${id}: is paused, its events wait until their retry window is over`]
          : []),
        ...(plain.length > 0 && secrets.length === 0
          ? [`destination ${id}: unsigned over http:// (webhook ${plain.join(', ')}), receivers cannot tell who calls`]
          : []),
        ...(traced.length > 0 && traces === undefined
          ? [`destination ${id}: has traceHeaders (webhook ${traced.join(', ')}), but there are no traces`]
          : []),
        ...(padded ? [`destination ${id}: a shared secret begins or ends with white space`] : []),
      ]
    }),
  ]
}
