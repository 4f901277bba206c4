import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { ObjectRecord } from '../../../../src/core/config-objects/object-record.ts'
import { copyOf, type KnownVersion, ObjectLog } from '../../../../src/core/config-objects/objects-from-topic.ts'
import { named, objectRecord } from '../../../support/config-objects/example-objects.ts'

const crm = named('destination', 'crm')

/** A change by a writer that has not read the last `behind` records of the log. */
interface Step {
  readonly behind: number
  readonly isDeletion: boolean
}
const step: fc.Arbitrary<Step> = fc.record({ behind: fc.nat(3), isDeletion: fc.boolean() })

function logOf(steps: readonly Step[]): ObjectRecord[] {
  const log: ObjectRecord[] = []
  for (const { behind, isDeletion } of steps) {
    const known = folded(log.slice(0, Math.max(0, log.length - behind))).get(crm)
    const exists = known !== undefined && known.action !== 'deleted'
    const action = !exists ? 'created' : isDeletion ? 'deleted' : 'updated'
    const writeId = `write-${log.length}`
    log.push(
      objectRecord({
        version: (known?.version ?? 0) + 1,
        action,
        writeId,
        value: action === 'deleted' ? undefined : writeId,
      }),
    )
  }
  return log
}

function folded(records: readonly ObjectRecord[]): ObjectLog {
  const log = new ObjectLog()
  for (const record of records) log.apply(record)
  return log
}

/**
 * Adds a copy of the current version of each object whose last record was ignored. Without the
 * copy, compaction would keep only the ignored record.
 */
function withCopies(records: readonly ObjectRecord[]): ObjectRecord[] {
  const known = folded(records)
  return [...records, ...known.allToCopy().map(name => copyOf(known.get(name)!))]
}

/** Compacts the first `count` records. All have the same key, so only the last of them remains. */
const compacted = (records: readonly ObjectRecord[], count: number): readonly ObjectRecord[] =>
  records.slice(Math.max(0, count - 1))

const essence = (known: KnownVersion | undefined) => known && [known.version, known.action, known.writeId, known.value]

describe('the fold', () => {
  it('has one winner for each version, whose writer had seen the version before it', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const log = new ObjectLog()
        let last: ObjectRecord | undefined
        for (const record of logOf(steps)) {
          const before = log.get(crm)
          if (log.apply(record) !== 'applied') {
            expect(log.get(crm)).toEqual(before)
            continue
          }
          expect(record.version).toBe((last?.version ?? 0) + 1)
          last = record
        }
        expect(log.get(crm)?.writeId).toBe(last?.writeId)
      }),
      { numRuns: 2_000 },
    )
  })

  it('loses no update: a counter that every winner increases has the number of winners', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }), lags => {
        const log: ObjectRecord[] = []
        const reader = new ObjectLog()
        let winners = 0
        for (const [index, behind] of lags.entries()) {
          const seen = folded(log.slice(0, Math.max(0, log.length - behind))).get(crm)
          const value = String(Number(seen?.value ?? 0) + 1)
          const action = seen === undefined ? 'created' : 'updated'
          const record = objectRecord({ version: (seen?.version ?? 0) + 1, action, value, writeId: `write-${index}` })
          log.push(record)
          if (reader.apply(record) === 'applied') winners++
        }
        expect(reader.get(crm)?.value).toBe(String(winners))
      }),
      { numRuns: 2_000 },
    )
  })

  it('gives the same object after compaction of any part, once the copies are written', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), fc.nat(30), (steps, count) => {
        const log = withCopies(logOf(steps))
        const all = folded(log)
        expect(all.allToCopy()).toEqual([])
        const rest = folded(compacted(log, Math.min(count, log.length)))
        expect(essence(rest.get(crm))).toEqual(essence(all.get(crm)))
      }),
      { numRuns: 3_000 },
    )
  })

  it('gives the same object when records are duplicated', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 30 }),
        fc.infiniteStream(fc.boolean()),
        (steps, isTwice) => {
          const log = logOf(steps)
          const doubled = log.flatMap(record => (isTwice.next().value ? [record, record] : [record]))
          expect(essence(folded(doubled).get(crm))).toEqual(essence(folded(log).get(crm)))
        },
      ),
    )
  })

  it('does not change when copies are added at any place and by any process', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), fc.nat(20), fc.nat(20), (steps, from, to) => {
        const log = logOf(steps)
        const known = folded(log.slice(0, (from % log.length) + 1)).get(crm)
        const at = Math.max(from % log.length, to % log.length) + 1
        const mixed = known === undefined ? log : [...log.slice(0, at), copyOf(known), ...log.slice(at)]
        expect(essence(folded(mixed).get(crm))).toEqual(essence(folded(log).get(crm)))
      }),
    )
  })
})
