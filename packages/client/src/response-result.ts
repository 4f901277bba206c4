import { isObject } from '../../../src/core/message/json.ts'
import type { FailureCause } from './failure.ts'
import type { Entry } from './message-queue.ts'
import { parseRetryAfter } from './retry-after.ts'
import type { RejectedMessage, SendResult } from './transport.ts'

/** The parts of an HTTP response that decide its result. */
export interface HttpResponse {
  readonly status: number
  readonly retryAfter: string | null
  /** The start of the body. May be empty or invalid JSON. */
  readonly body: string
}

const retryable4xx: ReadonlySet<number> = new Set([408, 410, 429, 460])
/** A retry would get the same status. */
const final5xx: ReadonlySet<number> = new Set([501, 505, 511])

const isRetryable = (status: number): boolean =>
  retryable4xx.has(status) || (status >= 500 && status <= 599 && !final5xx.has(status))

/** The result of an attempt to send `messages`. `now` is Unix time in milliseconds. */
export function resultOf(answer: HttpResponse, messages: readonly Entry[], now: number): SendResult {
  const { status, retryAfter, body } = answer
  if (status >= 200 && status <= 299)
    return isMarkup(body)
      ? { kind: 'retry', trouble: notFromCollector(status), retryAfterMs: undefined }
      : { kind: 'taken', rejected: rejectedIn(body, messages) }
  const trouble = troubleOf(status, body)
  if (status === 413) return { kind: 'too_large', trouble }
  if (isRetryable(status)) return { kind: 'retry', trouble, retryAfterMs: parseRetryAfter(retryAfter, now) }
  return { kind: 'refused', trouble }
}

/** HTML or XML is not from a collector, but from a proxy or a sign-in page. */
const isMarkup = (body: string): boolean => /^\s*</.test(body)

const notFromCollector = (status: number): FailureCause => ({
  code: 'not_a_collector',
  detail: `The response with status ${status} is a web page, so it is not from a collector of Hookline. Check 'endpoint'.`,
})

function troubleOf(status: number, body: string): FailureCause {
  const answer = parsed(body)
  const [code, message] = [shortText(answer?.['code']), shortText(answer?.['message'])]
  const words = [code, message].filter(word => word !== undefined).join(': ')
  return {
    code: `http_${status}`,
    detail: `The collector responded with status ${status}${words === '' ? '' : ` (${words})`}.`,
  }
}

/** Reads the rejected messages from a response. Ignores invalid entries. */
function rejectedIn(body: string, messages: readonly Entry[]): readonly RejectedMessage[] {
  const listed = parsed(body)?.['rejected']
  if (!Array.isArray(listed)) return []
  const byIndex = new Map<number, RejectedMessage>()
  for (const item of listed) {
    const index = isObject(item) ? indexOf(item, messages) : undefined
    if (index === undefined) continue
    const { code, message } = item as { code?: unknown; message?: unknown }
    byIndex.set(index, {
      index,
      code: shortText(code) ?? 'rejected',
      detail: shortText(message) ?? 'The collector gave no reason for the rejection.',
    })
  }
  return [...byIndex.values()]
}

function indexOf(item: Readonly<Record<string, unknown>>, messages: readonly Entry[]): number | undefined {
  const { index, messageId } = item
  const named = typeof index === 'number' ? messages[index] : undefined
  if (named !== undefined && (typeof messageId !== 'string' || named.messageId === messageId)) return index as number
  const found = messages.findIndex(message => message.messageId === messageId)
  return found < 0 ? undefined : found
}

function parsed(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Limits text for logs to one line of 200 characters. */
const shortText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, 200).replace(/\p{Cc}+/gu, ' ') : undefined
