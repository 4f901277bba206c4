import { setTimeout as delay } from 'node:timers/promises'
import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { assertNoSecrets } from './make-and-find-test-secrets.ts'

/** Matches the commands and paths of rotations. A rotation may show the new secret. */
const rotation = /\brotate-(secret|key)\b/
/** Time limit for the metrics of a process, in ms. A frozen process does not respond. */
const metricsLimitMs = 2_000

/**
 * Checks a response of the operator API. `line` is the method and the path of the request.
 * @throws when the response contains a secret. Only the new secret in the response to a rotation is
 * permitted
 */
export function assertNoSecretsInAnswer(
  line: string,
  { body, headers }: { readonly body: unknown; readonly headers: Headers },
): void {
  const shown = rotation.test(line) ? { ...(body as object), secret: undefined, writeKey: undefined } : body
  assertNoSecrets(`the response to ${line}`, JSON.stringify([[...headers], shown]))
}

/**
 * Checks the output of `hookline …argv`.
 * @throws when the output contains a secret. Only the new secret that a rotation prints is
 * permitted
 */
export function assertNoSecretsPrinted(
  argv: readonly string[],
  { out, err = '' }: { readonly out: string; readonly err?: string },
): void {
  const printed = argv.some(word => rotation.test(word)) ? err : `${out}\n${err}`
  assertNoSecrets(`the output of hookline ${argv.join(' ')}`, printed)
}

/** The metrics of a process as text; empty when the process has ended or does not respond. */
export function metricsTextOf({ ask, exited }: Pick<RunningService, 'ask' | 'exited'>): Promise<string> {
  const metrics = ask('/metrics').then(
    ({ text }) => text,
    () => '',
  )
  return Promise.race([metrics, exited.then(() => ''), delay(metricsLimitMs, '', { ref: false })])
}
