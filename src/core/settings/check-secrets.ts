import { type Path, type SettingsProblem, valueAt } from './problem.ts'
import type { Rule, WellFormed } from './rule.ts'

type Need = 'required' | 'optional'

/**
 * Every secret and certificate that can be set as text or as a file. A `required` one must be set
 * when the mapping that contains it exists.
 */
function secretPlaces(config: WellFormed): readonly (readonly [parent: Path, key: string, need: Need])[] {
  const authenticated = ['username', 'password'].some(
    key =>
      valueAt(config, ['registry', key]) !== undefined || valueAt(config, ['registry', `${key}File`]) !== undefined,
  )
  const registry = authenticated ? 'required' : 'optional'
  return [
    [['kafka', 'sasl'], 'username', 'required'],
    [['kafka', 'sasl'], 'password', 'required'],
    [['registry'], 'username', registry],
    [['registry'], 'password', registry],
    [['collector'], 'operatorKey', 'optional'],
    ...(config.sources ?? []).map((_, index) => [['sources', index], 'writeKey', 'required'] as const),
    ...(config.destinations ?? []).map((_, index) => [['destinations', index], 'sharedSecret', 'optional'] as const),
    ...(config.destinations ?? []).flatMap((_, index) => [
      [['destinations', index], 'signingKey', 'optional'] as const,
      [['destinations', index, 'auth', 'oauth2'], 'clientSecret', 'required'] as const,
      ...['clientCert', 'clientKey', 'ca'].map(key => [['destinations', index, 'tls'], key, 'optional'] as const),
    ]),
    ...(config.destinations ?? []).flatMap((destination, index) =>
      (destination?.webhooks ?? []).map(
        (_, position) => [['destinations', index, 'webhooks', position], 'url', 'required'] as const,
      ),
    ),
    ...(config.operator?.keys ?? []).map((_, index) => [['operator', 'keys', index], 'key', 'required'] as const),
  ]
}

/**
 * Checks that each secret is set as text or as a file, but not both, and that required secrets are
 * set.
 */
export const secretsGivenOnce =
  (input: unknown): Rule =>
  config =>
    secretPlaces(config).flatMap(([parent, key, need]): readonly SettingsProblem[] => {
      if (typeof valueAt(config, parent) !== 'object') return []
      // `config` has no values of a wrong type, so only `input` shows whether the user has set the
      // key.
      const [own, file] = [key, `${key}File`].map(name => valueAt(input, [...parent, name]) !== undefined)
      if (own && file) {
        const message = `cannot be combined with "${key}"`
        return [{ path: [...parent, `${key}File`], at: 'key', message, hint: 'remove one of them' }]
      }
      if (own || file || need === 'optional') return []
      return [{ path: [...parent, key], message: 'is missing', hint: `set "${key}" or "${key}File"` }]
    })

/** Checks that the proxy's user name and password are set together. */
export const proxyCredentials: Rule = config => {
  const { username, passwordFile } = config.network?.proxy ?? {}
  if ((username === undefined) === (passwordFile === undefined)) return []
  const [missing, given] = username === undefined ? ['username', 'passwordFile'] : ['passwordFile', 'username']
  const hint = 'set both, or neither if the proxy needs no authentication'
  return [{ path: ['network', 'proxy', missing], message: `is missing, but "${given}" is set`, hint }]
}

/** Checks that a destination with `secretRotatesAt` has the old and the new secret. */
export const rotatesTwoSecrets: Rule = config =>
  (config.destinations ?? []).flatMap((destination, index): readonly SettingsProblem[] => {
    if (destination?.secretRotatesAt === undefined) return []
    const { sharedSecret = [], sharedSecretFile = [] } = destination
    if ([sharedSecret, sharedSecretFile].flat().length === 2) return []
    const path: Path = ['destinations', index, 'secretRotatesAt']
    const hint = 'list the old and the new shared secret, or remove secretRotatesAt'
    return [{ path, message: 'requires two shared secrets', hint }]
  })
