import { keyFits, namedFiles, refuseContent, secretIn } from '../files.ts'
import { type Path, type SettingsProblem, valueAt } from '../problem.ts'
import { type Rule, repeated, type WellFormed } from './rule.ts'

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
      : [{ path, message: `${JSON.stringify(name)} ${refusal.message}`, hint: refusal.hint }]
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
    (config.sources ?? []).map((source, index) => {
      const content = source?.writeKeyFile === undefined ? undefined : files.get(source.writeKeyFile)
      const inFile = content?.kind === 'read' ? secretIn(content.text) || undefined : undefined
      return {
        path: ['sources', index, source?.writeKey === undefined ? 'writeKeyFile' : 'writeKey'],
        name: source?.writeKey ?? inFile,
      }
    }),
    'is also the write key of another source',
  )
