import { setTimeout as delay } from 'node:timers/promises'
import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { assertNoSecrets } from './make-and-find-test-secrets.ts'

/** The commands and paths of rotations, which may show the new secret. */
const rotation = /\brotate-(secret|key)\b/
/** Time limit in ms, because a frozen process does not respond. */
const metricsLimitMs = 2_000

/**
 * Checks the response to the request `line`. @throws when it contains a secret, except the new
 * secret of a rotation
 */
export function assertNoSecretsInAnswer(
  line: string,
  { body, headers }: { readonly body: unknown; readonly headers: Headers },
): void {
  const shown = rotation.test(line) ? { ...(body as object), secret: undefined, writeKey: undefined } : body
  assertNoSecrets(`the response to ${line}`, JSON.stringify([[...headers], shown]))
}

/**
 * Checks the output of `hookline …argv`. @throws when it contains a secret, except the new secret
 * of a rotation
 */
export function assertNoSecretsPrinted(
  argv: readonly string[],
  { out, err = '' }: { readonly out: string; readonly err?: string },
): void {
  const printed = argv.some(word => rotation.test(word)) ? err : `${out}\n${err}`
  assertNoSecrets(`the output of hookline ${argv.join(' ')}`, printed)
}

/** The metrics of a process; empty when it has ended or does not respond. */
export function metricsTextOf({ ask, exited }: Pick<RunningService, 'ask' | 'exited'>): Promise<string> {
  const metrics = ask('/metrics').then(
    ({ text }) => text,
    () => '',
  )
  return Promise.race([metrics, exited.then(() => ''), delay(metricsLimitMs, '', { ref: false })])
}
