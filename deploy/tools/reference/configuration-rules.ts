/** The rules of `src/core/settings/validate.ts` by name. */
export const configurationRules = {
  uniqueNames: 'Ids of sources, ids of destinations and names of audiences are unique.',
  distinctProperties:
    'The trait names of audiences are unique. A trait name is the key of an audience in `traits` of identify messages. Hookline derives it from the name of the audience (`First time shopper` becomes `first_time_shopper`), so each name contains at least one letter or digit.',
  uniqueWebhookLabels:
    'Webhook labels are unique within a destination. The label of a webhook is its `id`. Without an `id`, it is the position of the webhook (`0` to `4`).',
  knownNames:
    'Each entry of `destinations[].sources` is the id of a source, and each entry of `audiences.list[].destinations` the id of a destination. No list has the same id twice. With `operator.encryptionKeyFile`, an unknown id is not an error, because the operator API may create the source or destination later. With `destinationsFrom` and without `operator.encryptionKeyFile`, `check-config` reports an unknown id of a destination, but processes use the configuration. The list of errors at the beginning of this page says what Hookline does until the destination exists.',
  readableFiles:
    'Every file that a process or command reads exists and has valid content: a secret, a URL, certificates or a key.',
  usableCertificates: 'The values in `tls` of a destination are certificates or a private key in PEM format.',
  clientCertificate:
    '`kafka.tls.certFile` and `kafka.tls.keyFile` are set together, and the key matches the certificate. The same is true of `clientCert` and `clientKey` in `tls` of a destination.',
  proxyCredentials: '`network.proxy.username` and `network.proxy.passwordFile` are set together.',
  rotatesTwoSecrets: 'A destination with `secretRotatesAt` has two shared secrets, the old and the new one.',
  uniqueWriteKeys: 'Write keys are unique.',
  uniqueOperatorKeys: 'Names and keys in `operator.keys` are unique.',
  uniqueUrls: 'The URLs of the webhooks are unique within a destination.',
  allowedTargets:
    '`network.ports` permits the port of every webhook URL and every `tokenUrl`. If the host of one of these URLs is an IP address, this address is public or in `network.allow`.',
  httpsUrls:
    'With `network.httpsOnly: true`, the URL of every webhook and every `auth.oauth2.tokenUrl` begins with `https://`.',
  allowedHeaders:
    'The static headers of a webhook are valid HTTP headers. Each value has at most 4,096 bytes, and all names and values together have at most 8,192 bytes. Headers that Hookline or its HTTP client sets are not allowed: `Host`, `Content-Length`, `Content-Type`, `Content-Encoding`, `User-Agent`, `X-Signature`, `X-Message-Id`, `webhook-*`, `proxy-*`, connection headers such as `Connection` and, with `traceHeaders`, `traceparent` and `tracestate`.',
  comparableValues:
    'The value of a condition in `filter.where` fits its operator: a list for `in`, `true` or `false` for `exists`, a number for `gt`, `gte`, `lt` and `lte`, text for `prefix`, and a single value for `eq` and `ne`.',
  authorizationGivenOnce: 'A destination with `auth.oauth2` has no static `Authorization` header.',
  usableSigningKeys: 'A `signingKey` is an Ed25519 private key without a passphrase.',
  signingHasKey:
    'A destination with `policy.signing: ed25519` has a `signingKey` or `signingKeyFile`, and sends the Standard Webhooks headers.',
  scheduleFitsWindow:
    'The waits in `delivery.schedule` never decrease. The sum of the waits, plus one `delivery.timeout` for each attempt, is at most `delivery.window`.',
  policiesWithinLimits:
    'In the policy of a destination, `timeout` and `window` are at most those of `delivery`. The waits and timeouts of all attempts fit into the retry window of the destination.',
  lifecycleHasTopic:
    '`lifecycle.disableAfter` and `lifecycle.onGone: disable` need `operator.encryptionKeyFile`. Hookline stores which destinations it has disabled in the config topic, which exists only with this key.',
  distinctListeners: '`collector.listen`, `operator.listen` and `ops.listen` differ.',
  secretsGivenOnce:
    'A secret is set either directly or as a file, not both. Each source has a write key, each webhook has a URL, and each entry of `operator.keys` has a key. A user name requires a password, and a password requires a user name.',
} as const
