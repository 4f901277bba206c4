import type { Objection } from '../invalid-value-message-and-hint.ts'
import type { Rule, WellFormed } from './configuration-rule.ts'
import { contentProblem, type FileContents, keyFits, rsaBitsOf } from './named-files-and-content-problems.ts'
import { type Path, type SettingsProblem, valueAt } from './settings-problem.ts'
import { type FileKind, matchingPaths, textSettings } from './settings-that-name-files.ts'

const tlsPaths = ({ destinations = [] }: WellFormed): readonly Path[] =>
  destinations.map((_, index) => ['destinations', index, 'tls'])

/** Checks the certificates and keys in the configuration itself, not in files. */
export const usableCertificates: Rule = config =>
  textSettings.flatMap(({ path: setting, holds }) => {
    if (holds !== 'certificates' && holds !== 'key') return []
    return matchingPaths(config, setting).flatMap((path): readonly SettingsProblem[] => {
      const text = valueAt(config, path)
      const refusal = typeof text === 'string' ? contentProblem({ kind: 'read', text }, holds) : undefined
      return refusal === undefined ? [] : [{ path, ...refusal }]
    })
  })

/** Checks that a client's certificate and key are set together, match, and have a usable size. */
export const clientCertificate: Rule = (config, files) => [
  ...pairProblems(['kafka', 'tls'], ['cert', 'key'], config, files),
  ...tlsPaths(config).flatMap(path => pairProblems(path, ['clientCert', 'clientKey'], config, files)),
]

function pairProblems(
  path: Path,
  [certName, keyName]: readonly [certName: string, keyName: string],
  config: WellFormed,
  files: FileContents,
): readonly SettingsProblem[] {
  const cert = givenAt([...path, certName], 'certificates', config, files)
  const key = givenAt([...path, keyName], 'key', config, files)
  if (cert === undefined && key === undefined) return []
  const certKey = `${certName}${(cert ?? key)?.suffix}`
  const keyKey = `${keyName}${(key ?? cert)?.suffix}`
  const hint = `set both: ${certKey} with a certificate and ${keyKey} with its private key`
  if (cert === undefined) return [{ path: [...path, certKey], message: `is missing, but ${keyKey} is set`, hint }]
  if (key === undefined) return [{ path: [...path, keyKey], message: `is missing, but ${certKey} is set`, hint }]
  if (cert.text === undefined || key.text === undefined) return []
  const refusal = refuseSize(rsaBitsOf(key.text), path)
  if (refusal !== undefined) return [{ path: [...path, keyKey], ...refusal }]
  if (keyFits(cert.text, key.text)) return []
  const unmatched = 'use a certificate and a private key that belong together'
  return [{ path: [...path, keyKey], message: `is not the key of the certificate in ${certKey}`, hint: unmatched }]
}

/** Minimum size of an RSA key in bits. OpenSSL refuses connections with a shorter one. */
const minRsaBits = 2_048
/**
 * Maximum size of an RSA key in bits for destinations, because each handshake blocks the event
 * loop: about 10 ms with 4,096 bits, 60 ms with 8,192.
 */
const maxRsaBits = 4_096

function refuseSize(bits: number | undefined, [section]: Path): Objection | undefined {
  const maximum = section === 'destinations' ? maxRsaBits : Number.POSITIVE_INFINITY
  const isRefused = bits !== undefined && (bits < minRsaBits || bits > maximum)
  const range = section === 'destinations' ? `${minRsaBits} to ${maxRsaBits}` : `at least ${minRsaBits}`
  const hint = `use an RSA key of ${range} bits, or an EC key`
  return isRefused ? { message: `is an RSA key of ${bits} bits`, hint } : undefined
}

interface Given {
  /** `File` if the configuration key names a file, otherwise empty. */
  readonly suffix: '' | 'File'
  /** `undefined` when the text is not usable, or this process does not need its file. */
  readonly text: string | undefined
}

/**
 * Returns the text of the configuration key at `path`, or the content of the file that the key with
 * the suffix `File` names, for example `certFile`. `undefined` when neither key is set.
 */
function givenAt(path: Path, holds: FileKind, config: WellFormed, files: FileContents): Given | undefined {
  const own = valueAt(config, path)
  const name = valueAt(config, [...path.slice(0, -1), `${path.at(-1)}File`])
  if (typeof own !== 'string' && typeof name !== 'string') return undefined
  const content = typeof own === 'string' ? ({ kind: 'read', text: own } as const) : files.get(name as string)
  const isUsable = contentProblem(content, holds) === undefined && content?.kind === 'read'
  return { suffix: typeof own === 'string' ? '' : 'File', text: isUsable ? content.text : undefined }
}
