import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { LiveDeadLetters } from '../../../../src/core/delivery/live-dead-letters.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { recordOf } from '../../../support/builders.ts'

/**
 * Logs with few different keys, so that keys are repeated. The offsets have gaps, as after
 * compaction.
 */
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
 * The definition of live dead letters: records with a value and without a later record of the same
 * key in their partition.
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
      for (const record of read) standing.note(record)
      expect(records.filter(record => standing.has(record))).toEqual(oracle(records))
      expect(standing.size).toBe(oracle(records).length)
    }),
  )
})
