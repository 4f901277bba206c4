import { type DeadLetterFilter, type DeadLetterOutcome, deadLetterOutcomes } from '../delivery/dead-letter-filter.ts'
import { type DeadLetterReason, deadLetterReasons } from '../delivery/outcomes-reasons-and-classification.ts'
import { storedMessageId } from '../message/message-ids-and-required-identifiers.ts'
import type { EpochMs } from '../time.ts'
import type { ShownProblem } from './object-refusal.ts'
import { pageLimits, type QueryRead, timeIn, unknownParameters } from './query-parameters-and-object-page.ts'

/** Which dead letters a client requests. */
export interface DeadLetterQuery {
  readonly filter: DeadLetterFilter
  readonly limit: number
  /** For each partition: the offset below which the page begins. `undefined`: the newest page. */
  readonly before: readonly number[] | undefined
}

type Given = Readonly<Record<string, unknown>>

const parameters = ['destination', 'reason', 'outcome', 'since', 'until', 'message', 'after', 'limit']

export function deadLetterQueryOf(given: Given, now: EpochMs): QueryRead<DeadLetterQuery> {
  const problems: ShownProblem[] = [...unknownParameters(given, parameters)]
  const add = (problem: ShownProblem | undefined): void => {
    // A parameter gets at most one problem.
    if (problem !== undefined && !problems.some(({ path }) => path === problem.path)) problems.push(problem)
  }
  const one = <T extends string>(name: string, values: readonly T[]): T | undefined => {
    const value = values.find(each => each === given[name])
    if (given[name] !== undefined && value === undefined)
      add({ path: name, message: `is not a known ${name}`, hint: `use one of ${values.join(', ')}` })
    return value
  }
  const reason: DeadLetterReason | undefined = one('reason', deadLetterReasons)
  const outcome: DeadLetterOutcome | undefined = one('outcome', deadLetterOutcomes)
  const [since, until] = (['since', 'until'] as const).map(name => {
    const read = timeIn(given, name, now)
    add(read.problem)
    return read.time
  })
  if (since !== undefined && until !== undefined && since >= until)
    add({ path: 'until', message: 'must be later than "since"', hint: 'use an earlier "since" or a later "until"' })
  const { limit = String(pageLimits.default), after } = given
  const size = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (size < 1 || size > pageLimits.max)
    add({
      path: 'limit',
      message: `must be a number from 1 to ${pageLimits.max}`,
      hint: 'to get more, request the next page with the parameter "after"',
    })
  const before = after === undefined ? undefined : parseCursor(after)
  if (after !== undefined && before === undefined)
    add({
      path: 'after',
      message: 'is not a value of "next" from an earlier response',
      hint: 'copy the value of "next" unchanged from the response with the previous page',
    })
  if (problems.length > 0) return { kind: 'invalid', problems }
  const { destination, message } = given as Readonly<Record<string, string | undefined>>
  const messageId = message === undefined ? undefined : storedMessageId(message)
  return {
    kind: 'query',
    query: { filter: { destination, reason, outcome, since, until, messageId }, limit: size, before },
  }
}

/** The maximum of `topics.partitions`. */
const maxPartitions = 10_000

/**
 * Returns the cursor of the next page. `before`: for each partition, the lowest offset that the
 * pages so far cover. New dead letters have higher offsets, so they do not shift pages.
 */
export const cursorOf = (before: readonly number[]): string =>
  Buffer.from(before.map(offset => offset.toString(36)).join('.')).toString('base64url')

/** Parses a cursor; `undefined` for any other text. */
export function parseCursor(cursor: unknown): readonly number[] | undefined {
  if (typeof cursor !== 'string' || cursor.length > maxPartitions * 16 || !/^[\w-]+$/.test(cursor)) return undefined
  const parts = Buffer.from(cursor, 'base64url').toString('latin1').split('.')
  const isValid = parts.length <= maxPartitions && parts.every(part => /^[0-9a-z]{1,10}$/.test(part))
  const offsets = parts.map(part => Number.parseInt(part, 36))
  return isValid && offsets.every(Number.isSafeInteger) ? offsets : undefined
}
