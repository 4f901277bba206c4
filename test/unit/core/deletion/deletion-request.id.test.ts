import { expect, it } from '@jest/globals'
import { deletionRequestedAt, newDeletionId } from '../../../../src/core/deletion/deletion-request.ts'
import { start } from '../../../support/builders.ts'

it('the id of a deletion is a UUIDv7 that contains the time of the request', () => {
  const ids = Array.from({ length: 100 }, (_, index) => newDeletionId(start, `id-${index}`))
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(deletionRequestedAt(id)).toBe(start)
  }
  expect(new Set(ids).size).toBe(100)
})

it.each(['d-1', '4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11', ''])('%s contains no time', id => {
  expect(deletionRequestedAt(id)).toBeUndefined()
})
