import {
  type DeadLetter,
  type DeadLetterFilter,
  matches,
  parseDeadLetter,
  StandingRecords,
} from '../../core/delivery/dead-letter.ts'
import type { Event } from '../../core/message/event.ts'
import type { EventCodec, LogRecord, TopicReader } from '../../core/ports.ts'
import { decodeLearning } from '../decode-learning.ts'

/**
 * Hands over every dead letter that was not put back, in no particular order; awaits what `visit` returns. Reads the topic
 * twice: which record of a key is the last is known only at the end. `begin` is then told how many there are; when it says
 * false none is handed over. Resolves with how many there were.
 */
export async function visitDeadLetters(
  reader: TopicReader,
  topic: string,
  visit: (deadLetter: DeadLetter, record: LogRecord) => void | Promise<void>,
  begin: (total: number) => boolean | Promise<boolean> = () => true,
): Promise<number> {
  const standing = new StandingRecords()
  await reader.readToEnd(topic, record => standing.note(record))
  if ((await begin(standing.size)) && standing.size > 0) {
    await reader.readToEnd(topic, record => (standing.has(record) ? visit(parseDeadLetter(record), record) : undefined))
  }
  return standing.size
}

/** A dead letter with its event, where that can be decoded. */
export interface ListedDeadLetter extends DeadLetter {
  readonly event: Event | undefined
}

export interface DeadLetterList {
  /** Dead letters that were not put back. */
  readonly total: number
  /** How many of them the filter selects. */
  readonly selected: number
  readonly byReason: ReadonlyMap<string, number>
  /** The newest of those selected, oldest first. */
  readonly deadLetters: readonly ListedDeadLetter[]
}

interface ListDeps {
  readonly reader: TopicReader
  readonly topic: string
  readonly readEvent: ReadEvent
}

/** Lists at most `limit` of the dead letters that a filter selects. */
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
    // Now and then only: sorting for each one would cost the square.
    if (newest.length >= limit * 2) trim()
  })
  trim()
  return { total, selected, byReason, deadLetters: newest }
}

/** The key settles what the time does not, so that two runs list the same. */
const byTime = (a: DeadLetter, b: DeadLetter): number => a.at - b.at || (a.key < b.key ? -1 : 1)

/** The event of a dead letter; undefined when its bytes cannot be decoded, or not at present. */
export type ReadEvent = (record: LogRecord, deadLetter: DeadLetter) => Promise<Event | undefined>

/** `onUnavailable` is called once, when the registry cannot be reached; it is not asked again after that. */
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
    const decoded = await decodeLearning({ learn }, () => codec.decode(value, receivedAt))
    return decoded.kind === 'event' ? decoded.event : undefined
  }
}
