import type { Path } from './settings-problem.ts'

export type FileKind = 'secret' | 'url' | 'certificates' | 'key' | 'signing_key' | 'encryption_key'

/**
 * Whether a key that names a file, for example `urlFile`, has a variant for the value as text, for
 * example `url`.
 * - `none`: it has no variant.
 * - `optional`: it has a variant, and both keys may be absent.
 * - `required`: one of the two keys must be set if the mapping that contains them exists.
 * - `paired`: one of the two keys must be set if a user name or password is set.
 */
type TextVariant = 'none' | 'optional' | 'required' | 'paired'

/**
 * Every setting that names a file, or a list of files. In a path, `*` matches each index or key.
 */
export const fileSettings = [
  ['kafka.tls.caFile', 'certificates', 'none'],
  ['kafka.tls.certFile', 'certificates', 'none'],
  ['kafka.tls.keyFile', 'key', 'none'],
  ['kafka.sasl.usernameFile', 'secret', 'required'],
  ['kafka.sasl.passwordFile', 'secret', 'required'],
  ['registry.usernameFile', 'secret', 'paired'],
  ['registry.passwordFile', 'secret', 'paired'],
  ['registry.caFile', 'certificates', 'none'],
  ['collector.operatorKeyFile', 'secret', 'optional'],
  ['operator.keys.*.keyFile', 'secret', 'required'],
  ['operator.encryptionKeyFile', 'encryption_key', 'none'],
  ['network.caFile', 'certificates', 'none'],
  ['network.proxy.passwordFile', 'secret', 'none'],
  ['sources.*.writeKeyFile', 'secret', 'required'],
  ['destinations.*.sharedSecretFile', 'secret', 'optional'],
  ['destinations.*.signingKeyFile', 'signing_key', 'optional'],
  ['destinations.*.auth.oauth2.clientSecretFile', 'secret', 'required'],
  ['destinations.*.tls.clientCertFile', 'certificates', 'optional'],
  ['destinations.*.tls.clientKeyFile', 'key', 'optional'],
  ['destinations.*.tls.caFile', 'certificates', 'optional'],
  ['destinations.*.webhooks.*.urlFile', 'url', 'required'],
  ['destinations.*.webhooks.*.headers.*.file', 'secret', 'none'],
] as const satisfies readonly (readonly [path: string, holds: FileKind, text: TextVariant])[]

/**
 * The settings in `fileSettings` that can also be set as text. `path` names the key of the text.
 */
export const textSettings = fileSettings.flatMap(([path, holds, text]) =>
  text === 'none' ? [] : [{ path: path.replace(/File$/, ''), holds, need: text }],
)

/** Returns the paths in a document that match a path with `*`, even if the last key is absent. */
export const matchingPaths = (document: unknown, pattern: string): readonly Path[] =>
  matching(document, pattern.split('.'), [])

function matching(value: unknown, [part, ...rest]: readonly string[], path: Path): readonly Path[] {
  if (part === undefined) return [path]
  if (typeof value !== 'object' || value === null) return []
  const keys = part !== '*' ? [part] : Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  return keys.flatMap(key => matching((value as Record<string | number, unknown>)[key], rest, [...path, key]))
}
