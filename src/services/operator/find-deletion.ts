import {
  type DeletionOutcome,
  type DeletionRecord,
  type DeletionStatus,
  DeletionTally,
  decodeDeletion,
} from '../../core/deletion/status.ts'
import type { TopicReader } from '../../core/ports.ts'

/** What the deletions topic holds of one deletion. */
export interface KnownDeletion {
  readonly record: DeletionRecord
  readonly status: DeletionStatus
}

/** Undefined: there is none with this id. Rejects when the topic cannot be read. */
export type FindDeletion = (id: string) => Promise<KnownDeletion | undefined>

interface Entries {
  record: DeletionRecord | undefined
  /** By key: the last one holds. */
  readonly outcomes: Map<string, DeletionOutcome>
}

/**
 * Looks deletions up in their topic, all of which has to be read for that: once for everybody who asks while it is read for those before
 * them, and with memory only for what is asked for.
 */
export function createFindDeletion(reader: TopicReader, topic: string): FindDeletion {
  let gathering: { readonly asked: Map<string, Entries>; readonly read: Promise<unknown> } | undefined
  let last: Promise<unknown> = Promise.resolve()

  function gather() {
    const asked = new Map<string, Entries>()
    const read = last.then(() => {
      // Whoever asks from now on might miss what is written meanwhile: they have the next reading.
      gathering = undefined
      return readInto(asked)
    })
    last = read.catch(() => undefined)
    return { asked, read }
  }

  const readInto = (asked: ReadonlyMap<string, Entries>): Promise<unknown> =>
    reader.readToEnd(topic, ({ key, value }) => {
      const name = key?.toString() ?? ''
      const entry = value === null ? undefined : decodeDeletion(name, value.toString())
      if (entry?.kind === 'outcome') asked.get(entry.outcome.request)?.outcomes.set(name, entry.outcome)
      const entries = entry?.kind === 'request' ? asked.get(entry.record.id) : undefined
      if (entry?.kind === 'request' && entries !== undefined) entries.record = entry.record
    })

  return async id => {
    gathering ??= gather()
    const { asked, read } = gathering
    const entries = asked.get(id) ?? { record: undefined, outcomes: new Map() }
    asked.set(id, entries)
    await read
    const { record, outcomes } = entries
    if (record === undefined) return undefined
    const tally = new DeletionTally(record)
    for (const outcome of outcomes.values()) tally.note(outcome)
    return { record, status: tally.status() }
  }
}
