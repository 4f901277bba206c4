import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { LiveDeadLetters } from '../../../../src/core/delivery/live-dead-letters.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { recordOf } from '../../../support/builders.ts'

/** Logs with repeated keys, and with gaps in the offsets, as after compaction. */
const logs = fc
  .array(
    fc.record({
      partition: fc.nat(1),
      key: fc.constantFrom(null, 'a', 'b', 'a/1', ''),
      value: fc.constantFrom(null, 'x', ''),
      gap: fc.nat(2),
    }),
    { maxLength: 30 },
  )
  .map(drawn => {
    let offset = 0
    return drawn.map(({ partition, key, value, gap }) => {
      offset += 1 + gap
      return recordOf({
        partition,
        offset,
        key: key === null ? null : Buffer.from(key),
        value: value === null ? null : Buffer.from(value),
      })
    })
  })

/**
 * Returns the live dead letters: they have a value, and are the last records of their key in their
 * partition.
 */
function oracle(records: readonly LogRecord[]): readonly LogRecord[] {
  const same = (a: LogRecord, b: LogRecord): boolean =>
    a.partition === b.partition && a.key !== null && b.key !== null && a.key.equals(b.key)
  return records.filter(
    record =>
      record.key !== null &&
      record.value !== null &&
      !records.some(other => same(other, record) && other.offset > record.offset),
  )
}

it('live dead letters match the definition for any read order of the partitions', () => {
  fc.assert(
    fc.property(logs, fc.boolean(), (records, byPartition) => {
      const standing = new LiveDeadLetters()
      const read = byPartition ? records.toSorted((a, b) => a.partition - b.partition) : records
      for (const record of read) standing.add(record)
      expect(records.filter(record => standing.has(record))).toEqual(oracle(records))
      expect(standing.size).toBe(oracle(records).length)
      expect(standing.remaining).toBe(standing.size)
      expect(standing.nextPart()).toBe(false)
    }),
  )
})

it('parts have each live dead letter once, in order, and never more keys than permitted', () => {
  const drawnEnds = fc.option(fc.tuple(fc.nat(60), fc.nat(60)), { nil: undefined })
  fc.assert(
    fc.property(logs, logs, drawnEnds, fc.integer({ min: 1, max: 4 }), (records, written, ends, maxKeys) => {
      const standing = new LiveDeadLetters(ends, maxKeys)
      const last = records.at(-1)?.offset ?? 0
      const all = [...records, ...written.map(record => ({ ...record, offset: last + record.offset, value: null }))]
      const found: LogRecord[] = []
      // The tombstones in `written` are appended after the first part was read.
      for (let read: readonly LogRecord[] = records, hasPart = true; hasPart; read = all) {
        for (const record of read) {
          standing.add(record)
          expect(standing.size).toBeLessThanOrEqual(maxKeys)
        }
        found.push(...read.filter(record => standing.has(record)))
        hasPart = standing.nextPart()
      }
      const isIncluded = ({ partition, offset }: LogRecord): boolean => ends === undefined || offset < ends[partition]!
      const [before, after] = [records, all].map(log => oracle(log).filter(isIncluded)) as [LogRecord[], LogRecord[]]
      expect(before).toEqual(expect.arrayContaining(found))
      expect(found).toEqual(expect.arrayContaining(after))
      for (const partition of [0, 1]) {
        const offsets = found.filter(record => record.partition === partition).map(({ offset }) => offset)
        expect(offsets).toEqual([...new Set(offsets)].toSorted((a, b) => a - b))
      }
    }),
  )
})
