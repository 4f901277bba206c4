import { storedMessageId } from '../message/message-ids-and-required-identifiers.ts'
import { type EpochMs, epochMs } from '../time.ts'
import { type QueryRead, timeIn, unknownParameters } from './query-parameters-and-object-page.ts'

export interface MessageQuery {
  readonly id: string
  /**
   * The id in the request for the timeline, if Hookline stores a hash of this id (`id`) instead.
   * Records that other applications wrote can contain the id itself.
   */
  readonly typedId?: string | undefined
  /** Lower bound for the receive time of the message. */
  readonly since: EpochMs
  /** Upper bound for the receive time of the message; `undefined` for the present time. */
  readonly until?: EpochMs | undefined
}

/** Time span of a timeline without `since`, in ms: 24 h. */
const defaultReach = 24 * 3_600_000

/** Reads the id and the query parameters of a timeline. */
export function messageQueryOf(
  id: string,
  given: Readonly<Record<string, unknown>>,
  now: EpochMs,
): QueryRead<MessageQuery> {
  const problems = [...unknownParameters(given, ['since', 'until'])]
  if (problems.length > 0) return { kind: 'invalid', problems }
  const since = timeIn(given, 'since', now)
  const until = timeIn(given, 'until', now)
  const wrong = [since, until].flatMap(({ problem }) => problem ?? [])
  if (wrong.length > 0) return { kind: 'invalid', problems: wrong }
  const from = since.time ?? epochMs(Math.min(until.time ?? now, now) - defaultReach)
  if (until.time !== undefined && from >= until.time) {
    const hint = 'use an earlier "since" or a later "until"'
    return { kind: 'invalid', problems: [{ path: 'until', message: 'must be later than "since"', hint }] }
  }
  const stored = storedMessageId(id)
  const query = { id: stored, ...(stored !== id && { typedId: id }), since: from, until: until.time }
  return { kind: 'query', query }
}
