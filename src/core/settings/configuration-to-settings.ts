import { createHash } from 'node:crypto'
import { tlsIdentityOf } from '../network/tls-identity.ts'
import { revealed, Secret } from '../secret.ts'
import { type FileContents, secretIn } from './named-files-and-content-problems.ts'
import type { Configuration } from './schema-of-configuration.ts'
import type {
  Credentials,
  Destination,
  OAuth2Settings,
  OperatorKey,
  ProxySettings,
  Settings,
  Source,
  Webhook,
} from './settings.ts'

/**
 * The value of a secret whose file was not read, because no service of this process needs the
 * secret.
 */
export const unreadSecret = new Secret('')

/** Converts a valid configuration to settings: the contents of files replace their names. */
export function toSettings(configuration: Configuration, files: FileContents): Settings {
  const {
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
    audiences,
    canary,
    notices,
    traces,
  } = configuration
  const { caFile, certFile, keyFile } = kafka.tls ?? {}
  const contents = contentsOf(files)
  return {
    kafka: {
      brokers: kafka.brokers,
      clientId: kafka.clientId,
      tls: kafka.tls && { ca: contents.text(caFile), cert: contents.text(certFile), key: contents.key(keyFile) },
      sasl: kafka.sasl && { mechanism: kafka.sasl.mechanism, ...credentialsOf(kafka.sasl, contents)! },
    },
    topics,
    registry: { url: registry.url, auth: credentialsOf(registry, contents), ca: contents.text(registry.caFile) },
    collector: {
      listen: collector.listen,
      operatorKey: contents.secret(collector.operatorKey, collector.operatorKeyFile),
      maxBodyBytes: collector.maxBodyBytes,
      ratePerSource: collector.ratePerSource,
      clientAddressHeader: collector.clientAddressHeader,
      connectionsPerAddress: collector.connectionsPerAddress,
      bodyBytesPerAddress: collector.bodyBytesPerAddress,
    },
    operator: {
      keys: operator.keys.map(key => operatorKeyOf(key, contents)),
      ...(operator.encryptionKeyFile !== undefined && {
        encryptionKeys: contents.secrets([], operator.encryptionKeyFile),
      }),
    },
    ...(operator.encryptionKeyFile !== undefined && { configTopic: true as const }),
    operatorListen: operator.keys.length === 0 ? undefined : operator.listen,
    ops,
    log,
    network: {
      allow: network.allow,
      ports: network.ports,
      httpsOnly: network.httpsOnly,
      ca: contents.text(network.caFile),
      proxy: network.proxy && proxyOf(network.proxy, contents),
    },
    delivery,
    payload,
    sources: configuration.sources.map(source => sourceOf(source, contents)),
    destinations: configuration.destinations.map(destination => destinationOf(destination, contents)),
    audiences,
    canary,
    ...(notices !== undefined && { notices }),
    traces: traces && { endpoint: traces.endpoint, sample: traces.sample },
  }
}

export const entryToSettings = {
  sources: (source: Configuration['sources'][number]): Source => sourceOf(source, noContents),
  destinations: (destination: Configuration['destinations'][number]): Destination =>
    destinationOf(destination, noContents),
}

type Contents = ReturnType<typeof contentsOf>

function contentsOf(files: FileContents) {
  /** Returns the content of a file; `undefined` if no service of this process needs it. */
  const read = (name: string): string | undefined => {
    const content = files.get(name)
    if (content?.kind === 'not_needed') return undefined
    if (content?.kind !== 'read') throw new TypeError(`${name} has not been read`)
    return content.text
  }
  const secretOf = (name: string): Secret => {
    const text = read(name)
    return text === undefined ? unreadSecret : new Secret(secretIn(text))
  }
  return {
    text: (name: string | undefined): string | undefined => (name === undefined ? undefined : read(name)),
    key: (name: string | undefined): Secret | undefined => {
      const text = name === undefined ? undefined : read(name)
      return text === undefined ? undefined : new Secret(text)
    },
    secret: (own: Secret | undefined, name: string | undefined): Secret | undefined =>
      own ?? (name === undefined ? undefined : secretOf(name)),
    secrets: (own: Secret | readonly Secret[], names: string | readonly string[]): readonly Secret[] => [
      ...[own].flat(),
      ...[names].flat().map(secretOf),
    ],
  }
}

const noContents = contentsOf(new Map())

type GivenCredentials = Pick<Configuration['registry'], 'username' | 'usernameFile' | 'password' | 'passwordFile'>

function credentialsOf(given: GivenCredentials, contents: Contents): Credentials | undefined {
  const username = contents.secret(given.username, given.usernameFile)
  const password = contents.secret(given.password, given.passwordFile)
  return username && password && { username, password }
}

function proxyOf(given: NonNullable<Configuration['network']['proxy']>, contents: Contents): ProxySettings {
  const { url, username, passwordFile, noProxy, resolve } = given
  const password = contents.secret(undefined, passwordFile)
  return {
    url,
    credentials: username !== undefined && password ? { username: new Secret(username), password } : undefined,
    noProxy,
    resolve,
  }
}

function sourceOf(given: Configuration['sources'][number], contents: Contents): Source {
  const { id, writeKey = [], writeKeyFile = [] } = given
  return { id, writeKeys: contents.secrets(writeKey, writeKeyFile) }
}

const operatorKeyOf = (
  { name, role, key = [], keyFile = [] }: Configuration['operator']['keys'][number],
  contents: Contents,
): OperatorKey => ({ name, role, secrets: contents.secrets(key, keyFile) })

function destinationOf(given: Configuration['destinations'][number], contents: Contents): Destination {
  const {
    id,
    enabled,
    paused,
    sources,
    policy,
    lifecycle,
    filter,
    tls,
    secretRotatesAt,
    sharedSecret = [],
    sharedSecretFile = [],
  } = given
  const secrets = contents.secrets(sharedSecret, sharedSecretFile)
  const { signingKey = [], signingKeyFile = [] } = given
  const signingKeys = contents.secrets(signingKey, signingKeyFile)
  const auth = given.auth && { oauth2: given.auth.oauth2 && oauth2Of(given.auth.oauth2, contents) }
  const webhooks = given.webhooks.map((webhook, position) => webhookOf(webhook, position, contents))
  const tlsIdentity =
    tls &&
    tlsIdentityOf({
      cert: tls.clientCert ?? contents.text(tls.clientCertFile),
      key: tls.clientKey ?? contents.key(tls.clientKeyFile),
      ca: tls.ca ?? contents.text(tls.caFile),
    })
  return {
    ...{ id, enabled, paused, sources, secrets, secretRotatesAt, signingKeys, auth },
    ...{ webhooks, policy, lifecycle, filter, tlsIdentity },
  }
}

type GivenOAuth2 = NonNullable<NonNullable<Configuration['destinations'][number]['auth']>['oauth2']>

function oauth2Of(given: GivenOAuth2, contents: Contents): OAuth2Settings {
  const { clientSecret, clientSecretFile, ...others } = given
  // `secretsGivenOnce` has checked that `clientSecret` or `clientSecretFile` exists.
  return { ...others, clientSecret: contents.secret(clientSecret, clientSecretFile)! }
}

type GivenWebhook = Configuration['destinations'][number]['webhooks'][number]

function webhookOf(given: GivenWebhook, position: number, contents: Contents): Webhook {
  // `secretsGivenOnce` has checked that `url` or `urlFile` exists.
  const url = given.url ?? contents.secret(undefined, given.urlFile)!
  const headers = Object.entries(given.headers).map(
    ([name, value]) => [name, typeof value === 'string' ? value : contents.secret(undefined, value.file)!] as const,
  )
  return {
    label: given.id ?? String(position),
    url,
    urlHash: createHash('sha256').update(revealed(url)).digest('hex').slice(0, 8),
    headers: Object.fromEntries(headers),
    traceHeaders: given.traceHeaders,
  }
}
