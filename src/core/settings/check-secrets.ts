import { contentProblem, namedFiles, secretFrom } from './named-files.ts'
import { type Path, type SettingsProblem, valueAt } from './problem.ts'
import { type Rule, repeated, type WellFormed } from './rule.ts'

type Need = 'required' | 'optional'

/**
 * Every secret and certificate that can be set as text or as a file. A required one must be set when
 * the mapping around it exists.
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
      // `config` lacks values of a wrong type, so only the input shows whether the key exists.
      const [own, file] = [key, `${key}File`].map(name => valueAt(input, [...parent, name]) !== undefined)
      if (own && file) {
        const message = `cannot be combined with ${key}`
        return [{ path: [...parent, `${key}File`], at: 'key', message, hint: 'remove one of them' }]
      }
      if (own || file || need === 'optional') return []
      return [{ path: [...parent, key], message: 'is missing', hint: `set ${key} or ${key}File` }]
    })

export const readableFiles: Rule = (config, files) =>
  namedFiles(config).flatMap(({ path, name, holds }) => {
    const refusal = contentProblem(files.get(name), holds)
    return refusal === undefined
      ? []
      : // The name is not shown: a user may have written a secret instead of a file name.
        [{ path, message: `names a file that ${refusal.message}`, hint: refusal.hint }]
  })

/** Checks that the proxy's user name and password are set together. */
export const proxyCredentials: Rule = config => {
  const { username, passwordFile } = config.network?.proxy ?? {}
  if ((username === undefined) === (passwordFile === undefined)) return []
  const [missing, given] = username === undefined ? ['username', 'passwordFile'] : ['passwordFile', 'username']
  const hint = 'set both, or neither if the proxy needs no authentication'
  return [{ path: ['network', 'proxy', missing], message: `is missing, but ${given} is set`, hint }]
}

/** Checks that a destination whose secret rotates has the old and the new secret. */
export const rotatesTwoSecrets: Rule = config =>
  (config.destinations ?? []).flatMap((destination, index): readonly SettingsProblem[] => {
    if (destination?.secretRotatesAt === undefined) return []
    const { sharedSecret = [], sharedSecretFile = [] } = destination
    if ([sharedSecret, sharedSecretFile].flat().length === 2) return []
    const path: Path = ['destinations', index, 'secretRotatesAt']
    const hint = 'list the old and the new secret, or remove secretRotatesAt'
    return [{ path, message: 'requires two shared secrets', hint }]
  })

/** Checks that no write key belongs to two sources. */
export const uniqueWriteKeys: Rule = (config, files): readonly SettingsProblem[] =>
  repeated(
    (config.sources ?? []).flatMap((source, index) => [
      ...keysAtPath(['sources', index, 'writeKey'], source?.writeKey, key => key),
      ...keysAtPath(['sources', index, 'writeKeyFile'], source?.writeKeyFile, name => secretFrom(name, files)),
    ]),
    'is also the write key of another entry',
  )

/** The write keys in one value or in a list, each with its path. */
function keysAtPath(
  path: Path,
  given: string | readonly (string | undefined)[] | undefined,
  keyOf: (text: string) => string | undefined,
): readonly { readonly path: Path; readonly name: string | undefined }[] {
  const entry = (at: Path, text: string | undefined) => ({
    path: at,
    name: text === undefined ? undefined : keyOf(text),
  })
  return typeof given === 'object' ? given.map((text, place) => entry([...path, place], text)) : [entry(path, given)]
}

/**
 * Checks that no two entries share an operator key, because the audit log identifies the operator
 * by the key. The two keys of one entry may be equal, as at the start of a rotation.
 */
export const uniqueOperatorKeys: Rule = (config, files): readonly SettingsProblem[] =>
  repeated(
    (config.operator?.keys ?? []).flatMap((entry, index) => {
      const own = [entry?.key].flat()
      const inFiles = [entry?.keyFile].flat().map(name => name && secretFrom(name, files))
      const path: Path = ['operator', 'keys', index, entry?.key === undefined ? 'keyFile' : 'key']
      return [...new Set([...own, ...inFiles])].map(name => ({ path, name }))
    }),
    'is also the operator key of another entry',
  )
