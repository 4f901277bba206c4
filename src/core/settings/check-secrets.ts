import { type Rule, repeated, type WellFormed } from './check.ts'
import { keyFits, namedFiles, refuseContent, secretFrom } from './files.ts'
import { type Path, type SettingsProblem, valueAt } from './problem.ts'

type Need = 'required' | 'optional'

/** Every secret that can be given as itself or as a file. Required ones only where the mapping that they belong to is. */
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
    ...(config.destinations ?? []).flatMap((destination, index) =>
      (destination?.webhooks ?? []).map(
        (_, position) => [['destinations', index, 'webhooks', position], 'url', 'required'] as const,
      ),
    ),
    ...(config.operator?.keys ?? []).map((_, index) => [['operator', 'keys', index], 'key', 'required'] as const),
  ]
}

/** As itself or as a file, not both; one of them where it is required. */
export const secretsGivenOnce =
  (input: unknown): Rule =>
  config =>
    secretPlaces(config).flatMap(([parent, key, need]): readonly SettingsProblem[] => {
      if (typeof valueAt(config, parent) !== 'object') return []
      // Whether it was given at all, in whatever form, is a question to the input.
      const [own, file] = [key, `${key}File`].map(name => valueAt(input, [...parent, name]) !== undefined)
      if (own && file) {
        const message = `cannot stand beside ${key}`
        return [{ path: [...parent, `${key}File`], at: 'key', message, hint: 'leave one of them out' }]
      }
      if (own || file || need === 'optional') return []
      return [{ path: [...parent, key], message: 'is missing', hint: `give ${key} or ${key}File` }]
    })

export const readableFiles: Rule = (config, files) =>
  namedFiles(config).flatMap(({ path, name, holds }) => {
    const refusal = refuseContent(files.get(name), holds)
    return refusal === undefined
      ? []
      : // Not its name: a secret may stand where the name of its file is meant.
        [{ path, message: `names a file that ${refusal.message}`, hint: refusal.hint }]
  })

/** A client's certificate and its key come together and fit. */
export const clientCertificate: Rule = (config, files) => {
  const { certFile, keyFile } = config.kafka?.tls ?? {}
  const path: Path = ['kafka', 'tls']
  if (certFile === undefined && keyFile === undefined) return []
  const hint = 'they are issued together and given together'
  if (certFile === undefined) return [{ path: [...path, 'certFile'], message: 'is missing beside keyFile', hint }]
  if (keyFile === undefined) return [{ path: [...path, 'keyFile'], message: 'is missing beside certFile', hint }]
  const [certificate, key] = [files.get(certFile), files.get(keyFile)]
  if (refuseContent(certificate, 'certificates') ?? refuseContent(key, 'key')) return []
  if (certificate?.kind !== 'read' || key?.kind !== 'read' || keyFits(certificate.text, key.text)) return []
  return [{ path: [...path, 'keyFile'], message: 'is not the key of the certificate in certFile', hint }]
}

/** Two sources with one key could not be told apart. */
export const uniqueWriteKeys: Rule = (config, files): readonly SettingsProblem[] =>
  repeated(
    (config.sources ?? []).flatMap((source, index) => [
      ...keysAtPath(['sources', index, 'writeKey'], source?.writeKey, key => key),
      ...keysAtPath(['sources', index, 'writeKeyFile'], source?.writeKeyFile, name => secretFrom(name, files)),
    ]),
    'is a write key that stands here already',
  )

/** Each of one value or a list of them, with where it stands. */
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

/** The audit log names who changed something by the key. Both keys of one entry may be equal: a rotation begins so. */
export const uniqueOperatorKeys: Rule = (config, files): readonly SettingsProblem[] =>
  repeated(
    (config.operator?.keys ?? []).flatMap((entry, index) => {
      const own = [entry?.key].flat()
      const inFiles = [entry?.keyFile].flat().map(name => name && secretFrom(name, files))
      const path: Path = ['operator', 'keys', index, entry?.key === undefined ? 'keyFile' : 'key']
      return [...new Set([...own, ...inFiles])].map(name => ({ path, name }))
    }),
    'is also the key of another entry',
  )
