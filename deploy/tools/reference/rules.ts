/** What the rules in `src/core/settings/draft.ts` hold, by their names. */
export const configurationRules = {
  uniqueNames: 'No two sources have one id, nor two destinations; no two audiences one name.',
  distinctProperties:
    'An audience’s name becomes a property (`First time shopper`: `first_time_shopper`): it has a letter or a digit, and no two become the same.',
  uniqueWebhookLabels: 'Within a destination no two webhooks have one label: the id, else the position (`0` to `4`).',
  knownNames: '`destinations[].sources` name sources, `audiences.list[].destinations` name destinations, each once.',
  readableFiles:
    'Every file that is named and needed is there, and holds what it should: a secret, certificates, a key.',
  clientCertificate: '`kafka.tls.certFile` and `kafka.tls.keyFile` come together and belong together.',
  uniqueWriteKeys: 'No two sources have one write key.',
  uniqueOperatorKeys: 'No two entries of `operator.keys` have one name or one key.',
  uniqueUrls: 'Within a destination no URL stands twice.',
  allowedTargets:
    'A URL with a literal address has one that may be called, and every URL a port that `network.ports` lets through.',
  allowedHeaders:
    'Static headers are valid in HTTP, at most 4,096 bytes each and 8,192 together, and none of those that Hookline or HTTP sets itself: `Host`, `Content-*` of the body, `User-Agent`, `X-Signature`, `X-Message-Id`, `webhook-*`, `proxy-*` and those of the connection; beside `traceHeaders` neither `traceparent` nor `tracestate`.',
  keptSchedule: '`delivery.schedule` never decreases, and all its waits and attempts fit into `delivery.window`.',
  distinctListeners: '`collector.listen`, `operator.listen` and `ops.listen` differ.',
  secretsGivenOnce:
    'A secret is given as itself or as a file, not both. Write keys are required, and so is a password with its user name.',
} as const
