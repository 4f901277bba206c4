import { type DeadLetterFilter, matches } from '../../core/delivery/dead-letter-filter.ts'
import { LiveDeadLetters } from '../../core/delivery/live-dead-letters.ts'
import { type DeadLetter, parseDeadLetter } from '../../core/delivery/parse-dead-letter.ts'
import type { Event } from '../../core/message/event.ts'
import type { EventCodec, LogRecord, TopicReader } from '../../core/ports.ts'
import { decodeWithSchemaFetch } from '../decode-with-schema-fetch.ts'

/**
 * Visits every dead letter in two reads: the first read finds the last record of each key, the
 * second one visits these records. If `live` cannot hold all keys, both reads are repeated for the
 * remaining keys. Resolves with the number of dead letters.
 */
export async function visitDeadLetters(
  reader: TopicReader,
  topic: string,
  visit: (deadLetter: DeadLetter, record: LogRecord) => void | Promise<void>,
  begin: (total: number) => boolean | Promise<boolean> = () => true,
  live = new LiveDeadLetters(),
): Promise<number> {
  const add = (record: LogRecord): void => live.add(record)
  await reader.readToEnd(topic, add)
  if (!(await begin(live.remaining))) return live.remaining
  let total = 0
  for (;;) {
    total += live.size
    if (live.size > 0)
      await reader.readToEnd(topic, record => (live.has(record) ? visit(parseDeadLetter(record), record) : undefined))
    if (!live.nextPart()) return total
    await reader.readToEnd(topic, add)
  }
}

/** A dead letter with its event. `event` is `undefined` when it cannot be decoded. */
export interface ListedDeadLetter extends DeadLetter {
  readonly event: Event | undefined
}

export interface DeadLetterList {
  readonly total: number
  readonly selected: number
  readonly byReason: ReadonlyMap<string, number>
  /** The newest selected dead letters, at most `limit`, in ascending order of time. */
  readonly deadLetters: readonly ListedDeadLetter[]
}

interface ListDeps {
  readonly reader: TopicReader
  readonly topic: string
  readonly readEvent: ReadEvent
}

/** Lists the newest dead letters that a filter selects, at most `limit`. */
export async function listDeadLetters(
  { reader, topic, readEvent }: ListDeps,
  filter: DeadLetterFilter,
  limit = Number.POSITIVE_INFINITY,
): Promise<DeadLetterList> {
  const byReason = new Map<string, number>()
  let selected = 0
  let newest: ListedDeadLetter[] = []
  const trim = (): void => {
    newest = newest.sort(byTime).slice(-limit)
  }
  const total = await visitDeadLetters(reader, topic, async (deadLetter, record) => {
    if (!matches(deadLetter, filter)) return
    selected++
    byReason.set(deadLetter.reason, (byReason.get(deadLetter.reason) ?? 0) + 1)
    newest.push({ ...deadLetter, event: await readEvent(record, deadLetter) })
    // A sort after each dead letter would take quadratic time.
    if (newest.length >= limit * 2) trim()
  })
  trim()
  return { total, selected, byReason, deadLetters: newest }
}

/** Compares by time. The key breaks ties, so that every run has the same order. */
const byTime = (a: DeadLetter, b: DeadLetter): number => a.at - b.at || (a.key < b.key ? -1 : 1)

/**
 * Reads the event of a dead letter; `undefined` when it cannot be decoded or the schema registry
 * cannot be reached.
 */
export type ReadEvent = (record: LogRecord, deadLetter: DeadLetter) => Promise<Event | undefined>

/**
 * When the schema registry cannot be reached, the `ReadEvent` function calls `onUnavailable` once,
 * and does not use the registry again.
 */
export function createReadEvent(codec: EventCodec, onUnavailable: (error: unknown) => void): ReadEvent {
  const unknown = new Set<number>()
  let isAvailable = true

  async function learn(schemaId: number): Promise<boolean> {
    if (!isAvailable || unknown.has(schemaId)) return false
    try {
      if (await codec.learn(schemaId)) return true
      unknown.add(schemaId)
    } catch (error) {
      isAvailable = false
      onUnavailable(error)
    }
    return false
  }

  return async ({ value, timestamp }, { origin }) => {
    if (value === null) return undefined
    const receivedAt = origin?.timestamp ?? timestamp
    const decoded = await decodeWithSchemaFetch({ learn }, () => codec.decode(value, receivedAt))
    return decoded.kind === 'event' ? decoded.event : undefined
  }
}
