import type { CallPhase, CallResult } from '../../core/ports.ts'
import type { ConnectionPhase } from './connection-progress.ts'
import { ForbiddenTarget, UnresolvedName } from './dial.ts'

type Failed = CallResult & { kind: 'failed' }

/** The answer has no end where it must have one. */
export class AnswerTooLong extends Error {
  readonly code = 'HPE_HEADER_OVERFLOW'
}

/** What the deadline cut short, for the log. */
const waitingFor: Record<ConnectionPhase, string> = {
  dns: 'its name was resolved',
  connect: 'it was connected',
  tls: 'the TLS handshake was done',
  exchange: 'the head of its answer was complete',
}

/** The call ran out of time. `after`: the whole time it had, as people write it. */
export const timeIsOver = (phase: ConnectionPhase, after: string): Failed => ({
  kind: 'failed',
  phase: 'deadline',
  code: 'ETIMEDOUT',
  detail: `${after} were over before ${waitingFor[phase]}`,
})

/** The result of a call that broke with this error while its connection was in `phase`. */
export function failureOf(error: Error, phase: ConnectionPhase): Failed {
  const cause = rootOf(error)
  return { kind: 'failed', phase: phaseOf(cause, phase), code: codeOf(cause), detail: oneLine(cause) }
}

/** What HTTP clients call otherwise, by the code that Node has for it: what an operator reads does not depend on the client. */
const nodeCodes: ReadonlyMap<string, string> = new Map([
  // A head cut short by the end of the connection is a broken connection, whatever the parser calls it.
  ['HPE_INVALID_EOF_STATE', 'ECONNRESET'],
  ['UND_ERR_SOCKET', 'ECONNRESET'],
  ['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW'],
  // undici's parser gives no code of its own; once it has read a length, it calls every fault a mismatch with that.
  ['HTTPParserError', 'HPE_INVALID_RESPONSE'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'HPE_INVALID_RESPONSE'],
])

/** The error's code, or its name when it has none. */
export function codeOf(error: Error): string {
  const code = String((error as NodeJS.ErrnoException).code ?? error.name)
  return nodeCodes.get(code) ?? code
}

/** HTTP clients wrap errors. An UnresolvedName is the end of the chain: beneath it is only the resolver's. */
export function rootOf(error: Error): Error {
  const { cause } = error
  const isWrapped = !(error instanceof UnresolvedName) && typeof cause === 'object' && cause !== null
  return isWrapped ? rootOf(cause as Error) : error
}

function phaseOf(error: Error, phase: ConnectionPhase): CallPhase {
  if (error instanceof ForbiddenTarget) return 'address'
  return error instanceof UnresolvedName ? 'dns' : phase
}

const longestDetail = 300

/** An error as one line. Parts of it may be the peer's words: a certificate's names, an alert. */
function oneLine(error: Error): string {
  const { errors } = error as AggregateError
  const text = errors === undefined ? error.message : errors.map((one: Error) => one.message).join('; ')
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, longestDetail)
}
