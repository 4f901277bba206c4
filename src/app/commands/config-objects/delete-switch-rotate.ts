import type { Refused } from '../../../adapters/operator-client/operator-request.ts'
import { countWithNoun } from '../../../core/count-with-noun.ts'
import { maxWriteKeys } from '../../../core/operator/max-write-keys.ts'
import type { Switch } from '../../../core/operator/objects-api.ts'
import { outputWritten, printData, UsageError } from '../../create-command.ts'
import type { OperatorOptions } from '../../operator-api-options-and-clients.ts'
import { printable } from '../../terminal-table-and-progress-bar.ts'
import type { ObjectTask, ObjectWork } from './subcommand.ts'
import { problemText, throwIfRefused } from './throw-if-refused.ts'

/** `hookline destinations delete`, `hookline sources delete` */
export async function deleteObject(
  { io, client, kind }: ObjectTask,
  options: OperatorOptions,
  id: string,
): Promise<void> {
  const { version: expected } = throwIfRefused(await client.get(kind, id), kind, id)
  throwIfRefused(await client.delete(kind, id, { expected, dryRun: false }), kind, id)
  printData(io, options, { id, result: 'deleted' }, [`${kind} ${id} deleted`])
}

const results = {
  pause: 'paused',
  resume: 'resumed',
  enable: 'enabled',
  disable: 'disabled',
} as const satisfies Record<Switch, string>

/** `hookline destinations pause|resume|enable|disable` */
export const switchDestination =
  (to: Switch): ObjectWork<OperatorOptions> =>
  async ({ io, client, kind }, options, id) => {
    const { changedFields, version } = throwIfRefused(await client.switch(id, to), kind, id)
    const result = changedFields.length === 0 ? 'unchanged' : results[to]
    const note = result === 'unchanged' ? `is already ${results[to]}` : result
    printData(io, options, { id, result, version }, [`${kind} ${id} ${note}`])
  }

export interface RotateSecretOptions extends OperatorOptions {
  readonly overlap?: string
}

/** `hookline destinations rotate-secret`: stdout has only the secret. */
export async function rotateSecret(
  { io, client, kind }: ObjectTask,
  options: RotateSecretOptions,
  id: string,
): Promise<void> {
  const answer = await client.rotateSecret(id, options.overlap)
  // The request body has only the field `overlap`, so an invalid body means that `--overlap` is
  // wrong.
  const refused = answer as Partial<Refused>
  if (refused.code === 'invalid_body')
    throw new UsageError(printable((refused.problems ?? []).map(problem => `--${problemText(problem)}`).join('; ')))
  const { secret, rotatesAt, version } = throwIfRefused(answer, kind, id)
  printData(io, options, { id, secret, rotatesAt, version }, [secret])
  const remedy =
    rotatesAt === undefined
      ? 'rotate the secret again with --overlap 0s'
      : `remove the new secret before ${rotatesAt}, when it replaces the old one (see "Rotations" in docs/reference/operator-api.md), then rotate the secret again`
  await outputWritten(io, `the new secret of ${kind} ${id} is saved, but could not be printed; ${remedy}`)
  const change =
    rotatesAt === undefined
      ? 'Hookline now signs all requests with this secret, so the receiver must accept the secret now'
      : `until ${rotatesAt} the old secret signs X-Signature, and both secrets sign the Standard Webhooks headers; the receiver must accept the new secret before that time`
  io.stderr.write(`hookline: the new secret of ${kind} ${id} is shown only once; ${change}\n`)
}

export interface RotateKeyOptions extends OperatorOptions {
  readonly keep?: number
}

/** `hookline sources rotate-key`: stdout has only the write key. */
export async function rotateKey(
  { io, client, kind }: ObjectTask,
  options: RotateKeyOptions,
  id: string,
): Promise<void> {
  const { writeKey, keys, version } = throwIfRefused(await client.rotateKey(id, options.keep), kind, id)
  printData(io, options, { id, writeKey, keys, version }, [writeKey])
  const remedy =
    keys < maxWriteKeys
      ? 'rotate the write key again'
      : 'remove this key from the source (run `hookline sources apply` with a file that has only the earlier keys of the source), then rotate the write key again'
  await outputWritten(io, `the new write key of ${kind} ${id} is already valid, but could not be printed; ${remedy}`)
  const valid =
    keys === 1
      ? 'this key is the only valid key of the source, so senders must use it now'
      : `the source still accepts ${countWithNoun(keys - 1, 'earlier key')}, so you can switch its senders to the new key one after the other`
  io.stderr.write(`hookline: the new write key of ${kind} ${id} is shown only once; ${valid}\n`)
}
