import type { LogSession, OffsetRange } from '../../core/log-session.ts'
import type { DeadLetterIndex, KeyAt } from '../../core/operator/dead-letter-index.ts'
import type { ReadBudget } from '../../core/operator/read-budget.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { Part } from './read-newest-first.ts'

/** Offsets in one read. A small number, because the budget is checked only between reads. */
const chunkOffsets = 1_000

interface Deps {
  readonly topic: string
  readonly index: DeadLetterIndex
}

interface Followed {
  readonly ranges: readonly OffsetRange[]
  readonly isComplete: boolean
}

/** Reads the keys of the dead-letter topic into an index. */
export interface DeadLetterKeys {
  /**
   * Reads keys appended since the last call. `isComplete` is false when the budget was spent before
   * the end of the topic.
   */
  follow(session: LogSession, budget: ReadBudget): Promise<Followed>
  /**
   * Reads older keys until the index has all keys from the end of each part (a range of offsets) to
   * the end of its partition, or is full. Returns false if the budget is spent first.
   */
  reach(session: LogSession, parts: readonly Part[], budget: ReadBudget): Promise<boolean>
  /**
   * Returns functions for a caller that reads chunks itself: `add` notes the key of each record,
   * and `end` adds the keys of a completely read chunk to the index.
   */
  createKeyNotes(): {
    /** Notes the key of a record, and returns a copy of the key; `undefined` if the key is null. */
    add(record: LogRecord): Buffer | undefined
    end(chunk: Part): void
  }
}

export function createDeadLetterKeys({ topic, index }: Deps): DeadLetterKeys {
  async function readKeys(session: LogSession, part: Part, budget: ReadBudget): Promise<void> {
    const { partition, from, to } = part
    const keys: KeyAt[] = []
    await session.read({ topic, partition }, from, to, ({ key, offset }) => {
      if (key !== null) keys.push({ key: Buffer.from(key), offset })
    })
    budget.count(keys.length)
    index.note(partition, from, to, keys)
  }

  return {
    async follow(session, budget) {
      const ranges = await session.ranges(topic)
      const isComplete = await allComplete(
        ranges.map(async (range, partition) => {
          const { end } = range
          const { to } = index.start(partition, range)
          for (let from = to; from < end; from += chunkOffsets) {
            if (budget.isSpent) return false
            await readKeys(session, { partition, from, to: Math.min(end, from + chunkOffsets) }, budget)
          }
          return true
        }),
      )
      return { ranges, isComplete }
    },
    async reach(session, parts, budget) {
      return allComplete(
        parts.map(async ({ partition, from, to }) => {
          if (to <= from) return true
          const indexedFrom = (): number => index.indexedFrom(partition)
          for (let end = indexedFrom(); end > to && !index.isFull; end = indexedFrom()) {
            if (budget.isSpent) return false
            await readKeys(session, { partition, from: Math.max(to, end - chunkOffsets), to: end }, budget)
          }
          return true
        }),
      )
    },
    createKeyNotes() {
      const keys = new Map<number, KeyAt[]>()
      return {
        add({ key, partition, offset }) {
          if (key === null) return undefined
          const copy = Buffer.from(key)
          const ofPartition = keys.get(partition) ?? []
          keys.set(partition, ofPartition)
          ofPartition.push({ key: copy, offset })
          return copy
        },
        end({ partition, from, to }) {
          index.note(partition, from, to, keys.get(partition) ?? [])
          keys.delete(partition)
        },
      }
    },
  }
}

/** Waits for all reads even if one fails: the log session must not be closed during a request. */
async function allComplete(reads: readonly Promise<boolean>[]): Promise<boolean> {
  await Promise.allSettled(reads)
  return (await Promise.all(reads)).every(isComplete => isComplete)
}
