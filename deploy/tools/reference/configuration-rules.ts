/** The rules of `src/core/settings/validate.ts` by name. */
export const configurationRules = {
  uniqueNames: 'Ids of sources, ids of destinations and names of audiences are unique.',
  distinctProperties:
    'The trait names of audiences are unique. Hookline derives them from the names of the audiences (`First time shopper` becomes `first_time_shopper`), so each name of an audience contains a letter or a digit.',
  uniqueWebhookLabels:
    'Webhook labels are unique within a destination. The label of a webhook is its `id`, or without an `id` its position (`0` to `4`).',
  knownNames:
    '`destinations[].sources` contains ids of sources, and `audiences.list[].destinations` ids of destinations, without repetition.',
  readableFiles: 'Every required file exists and has valid content: a secret, certificates or a key.',
  clientCertificate:
    '`kafka.tls.certFile` and `kafka.tls.keyFile` are set together, and the key matches the certificate.',
  uniqueWriteKeys: 'Write keys are unique.',
  uniqueOperatorKeys: 'Names and keys in `operator.keys` are unique.',
  uniqueUrls: 'URLs are unique within a destination.',
  allowedTargets:
    'An IP address in a URL is public or in `network.allow`, and the port of every URL is in `network.ports`.',
  allowedHeaders:
    'Static headers are valid HTTP headers with at most 4,096 bytes each and 8,192 bytes together. Headers that Hookline or its HTTP client sets are not allowed: `Host`, `Content-*` headers of the body, `User-Agent`, `X-Signature`, `X-Message-Id`, `webhook-*`, `proxy-*` and headers of the connection. With `traceHeaders`, `traceparent` and `tracestate` are not allowed either.',
  scheduleFitsWindow:
    'The waits in `delivery.schedule` never decrease, and all waits and attempts fit into `delivery.window`.',
  distinctListeners: '`collector.listen`, `operator.listen` and `ops.listen` differ.',
  secretsGivenOnce:
    'A secret is set either directly or as a file, not both. Each source has a write key, and a user name requires a password.',
} as const
