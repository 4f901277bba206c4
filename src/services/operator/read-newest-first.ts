import type { LogSession } from '../../core/log-session.ts'
import type { ReadBudget } from '../../core/operator/read-budget.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'

/** A part of a partition: the offsets from `from` to the one before `to`. */
export interface Part {
  readonly partition: number
  readonly from: number
  readonly to: number
}

export interface Found<T> {
  readonly item: T
  readonly partition: number
  readonly offset: number
  readonly timestamp: EpochMs
}

export interface NewestFirst<T> {
  /** The selected items, newest first. */
  readonly found: readonly Found<T>[]
  /** Whether all parts were read, and all selected records are in `found`. */
  readonly isComplete: boolean
  /** The unread rest of each part, with which a further read can continue. */
  readonly unreadParts: readonly Part[]
  /** All records appended after this time were read; `undefined` when all parts were read. */
  readonly searchedSince: EpochMs | undefined
}

interface Wanted<T> {
  readonly topic: string
  readonly parts: readonly Part[]
  readonly budget: ReadBudget
  readonly limit: number
  /**
   * Called for each record of a chunk, in offset order. Returns the item to select, or `undefined`.
   */
  readonly select: (record: LogRecord) => T | undefined
  /**
   * Called after a chunk was read. The chunks of a partition come in backward order, without gaps.
   */
  readonly onChunk?: (chunk: Part, records: number) => void
  /**
   * Called for a selected record when all newer ones were read. Returns false to leave the record
   * out.
   */
  readonly isWanted?: (found: Found<T>) => boolean
}

/**
 * Numbers of offsets in a chunk. The first chunk is small, because the size of the records is
 * unknown.
 */
const chunkOffsets = { first: 8, minNext: 250, growth: 4, max: 2_000 }
/**
 * Maximum number of partitions that are read concurrently, after the first chunk of each. One at a
 * time would be slow, because every read waits for the broker.
 */
const maxConcurrentChunks = 4
/** Maximum number of first chunks that are read concurrently. */
const maxConcurrentFirstChunks = 32
/**
 * Approximate maximum bytes of each chunk after the first. It is small, because the budget is
 * checked only between chunks.
 */
const maxChunkBytes = 2 * 1024 * 1024

/** The progress in one partition. `found`: the selected records that were not returned yet. */
interface Reading<T> {
  readonly partition: number
  readonly from: number
  to: number
  span: number
  /** The append time of the oldest record that was read. No unread record is newer. */
  floor: number
  found: Found<T>[]
}

/**
 * Reads partitions backwards, and returns the selected records, newest first. Reads at least the
 * first chunk of each partition, unless the budget is already spent at the start.
 */
export async function readNewestFirst<T>(session: LogSession, wanted: Wanted<T>): Promise<NewestFirst<T>> {
  const { parts, budget, limit, isWanted = () => true } = wanted
  const span = chunkOffsets.first
  const readings = parts.map((part): Reading<T> => ({ ...part, span, floor: Number.POSITIVE_INFINITY, found: [] }))
  const found: Found<T>[] = []
  const unread = (): readonly Reading<T>[] => readings.filter(({ from, to }) => to > from)

  /** Moves selected records to the result if no unread record can be newer. */
  function emit(): void {
    const floor = Math.max(Number.NEGATIVE_INFINITY, ...unread().map(each => each.floor))
    while (found.length < limit) {
      const next = newestOf(readings)
      const head = next?.found.at(-1)
      if (next === undefined || head === undefined || head.timestamp < floor) return
      next.found.pop()
      if (isWanted(head)) found.push(head)
    }
  }

  // Read the first chunks of all partitions: without them, the newest record is unknown.
  const unbegun = new Set(budget.isSpent ? [] : unread())
  while (found.length < limit && (unbegun.size > 0 || !budget.isSpent)) {
    const newestFirst = unbegun.size > 0 ? [...unbegun] : unread().toSorted((a, b) => b.floor - a.floor || 0)
    const next = newestFirst
      .slice(0, maxConcurrentFirstChunks)
      .filter(({ floor }, index) => index < maxConcurrentChunks || floor === newestFirst[0]?.floor)
    if (next.length === 0) break
    const chunks = next.map(reading => readChunk(session, wanted, reading))
    // All requests are awaited even if one fails: the log session must not be closed during a
    // request.
    await Promise.allSettled(chunks)
    await Promise.all(chunks)
    for (const reading of next) unbegun.delete(reading)
    emit()
  }
  const isEmpty = readings.every(reading => reading.found.length === 0)
  const floor = Math.max(Number.NEGATIVE_INFINITY, ...unread().map(each => each.floor))
  return {
    found,
    isComplete: isEmpty && unread().length === 0,
    unreadParts: readings.map(({ partition, from, to, found }) => ({
      partition,
      from,
      to: (found.at(-1)?.offset ?? to - 1) + 1,
    })),
    searchedSince: Number.isFinite(floor) ? (floor as EpochMs) : undefined,
  }
}

async function readChunk<T>(session: LogSession, wanted: Wanted<T>, reading: Reading<T>): Promise<void> {
  const { topic, budget, select, onChunk } = wanted
  const { partition, to } = reading
  const from = Math.max(reading.from, to - reading.span)
  const chunk: Found<T>[] = []
  let records = 0
  let bytes = 0
  let oldest: number | undefined
  await session.read({ topic, partition }, from, to, record => {
    records++
    bytes += record.value?.length ?? 0
    oldest ??= record.timestamp
    const item = select(record)
    if (item !== undefined) chunk.push({ item, partition, offset: record.offset, timestamp: record.timestamp })
  })
  budget.count(records)
  onChunk?.({ partition, from, to }, records)
  // The records are in offset order, so the newest is the last one.
  reading.found = [...chunk, ...reading.found]
  reading.to = from
  reading.floor = Math.min(reading.floor, oldest ?? reading.floor)
  const grown = reading.span * chunkOffsets.growth
  // A chunk without bytes has only removed records or tombstones, which do not show the usual
  // record size.
  reading.span =
    bytes === 0
      ? Math.min(grown, chunkOffsets.max)
      : Math.min(Math.max(grown, chunkOffsets.minNext), chunkOffsets.max, Math.ceil((maxChunkBytes * records) / bytes))
}

/** The reading with the newest selected record. */
function newestOf<T>(readings: readonly Reading<T>[]): Reading<T> | undefined {
  let newest: Reading<T> | undefined
  for (const reading of readings) {
    const head = reading.found.at(-1)
    const best = newest?.found.at(-1)
    if (head !== undefined && (best === undefined || head.timestamp > best.timestamp)) newest = reading
  }
  return newest
}
