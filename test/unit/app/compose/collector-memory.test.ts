import { expect, it } from '@jest/globals'
import { collectorMemory } from '../../../../src/app/compose/collector-memory.ts'
import { SharedMemory } from '../../../../src/core/collector/memory-limit-by-group.ts'

const mebibyte = 1_048_576

it.each([1, 4, 16, 20, 24, 28, 64])(
  'the records of a body of %d MiB, the maximum, fit while other sources send',
  mebibytes => {
    const maxBodyBytes = mebibytes * mebibyte
    const records = new SharedMemory(collectorMemory({ maxBodyBytes, bodyBytesPerAddress: undefined }).records)
    expect(records.take('other', 8 * mebibyte)).toBe(true)
    // Copies of the batch's `context` in the records of a body may take 8 MiB.
    expect(records.take('web', maxBodyBytes + 8 * mebibyte)).toBe(true)
  },
)
