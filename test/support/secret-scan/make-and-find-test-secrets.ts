const ownMarker = 'kept-secret-'
/**
 * Texts that occur only in secrets: in those of `testSecret`, in those of
 * `config-objects/example-objects.ts`, and in Hookline's own.
 */
const markers = [ownMarker, '-of-the-crm', '-of-the-app', 'whsec_']

/**
 * A secret that no topic, log, metric, span, response or command output may contain in plain text,
 * base64 or hex.
 */
export const testSecret = (name: string): string => `${ownMarker}${name}`

export interface FoundSecret {
  readonly marker: string
  readonly form: 'plain text' | 'base64' | 'hex'
  /** Position of the first byte of the secret. */
  readonly at: number
}

interface Needle extends Omit<FoundSecret, 'at'> {
  readonly bytes: Buffer
}

const needles: readonly Needle[] = markers.flatMap(marker => [
  { marker, form: 'plain text', bytes: Buffer.from(marker) },
  ...[0, 1, 2].map(before => ({ marker, form: 'base64' as const, bytes: Buffer.from(base64Within(marker, before)) })),
  ...[hexOf(marker), hexOf(marker).toUpperCase()].map(hex => ({
    marker,
    form: 'hex' as const,
    bytes: Buffer.from(hex),
  })),
])

/**
 * The digits of `text` in base64 or base64url after `before` bytes (0 to 2), without digits that
 * also contain bits of other bytes.
 */
function base64Within(text: string, before: number): string {
  const digits = Buffer.from('\0'.repeat(before) + text).toString('base64')
  return digits.slice(Math.ceil((before * 8) / 6), Math.floor(((before + text.length) * 8) / 6))
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex')
}

/** Returns the first occurrence of each marker in each form: plain text, base64 and hex. */
export const findSecrets = (bytes: Buffer): readonly FoundSecret[] =>
  needles.flatMap(({ bytes: needle, ...found }) => {
    const at = bytes.indexOf(needle)
    return at < 0 ? [] : [{ ...found, at }]
  })

/**
 * Checks an output of Hookline. @throws when it contains a secret, with `what` and the line up to
 * the secret
 */
export function assertNoSecrets(what: string, output: Buffer | string): void {
  const bytes = typeof output === 'string' ? Buffer.from(output) : output
  const [found] = findSecrets(bytes)
  if (found === undefined) return
  const line = bytes.subarray(bytes.lastIndexOf('\n', found.at) + 1, found.at)
  throw new Error(`${what} has a secret with '${found.marker}' in ${found.form}: ${line}…`)
}
