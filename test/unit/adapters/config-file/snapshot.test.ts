import * as realFs from 'node:fs/promises'
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'

/** The result of `readdir`. It stays pending, like that of a network disk that does not respond. */
let listing = Promise.withResolvers<string[]>()
const readdir = jest.fn(() => listing.promise)
jest.unstable_mockModule('node:fs/promises', () => ({ ...realFs, readdir }))
const { createConfigSnapshot } = await import('../../../../src/adapters/config-file/snapshot.ts')

const late = {
  kind: 'unreadable',
  message: 'could not be read within 5 s',
  hint: 'check that the disk or network drive of this path responds',
}

beforeEach(() => {
  jest.useFakeTimers()
  readdir.mockClear()
  listing = Promise.withResolvers()
})
afterEach(() => {
  jest.useRealTimers()
})

it('a directory that cannot be listed within 5 s is unreadable, and is not read again until the read ends', async () => {
  const { names } = createConfigSnapshot()
  const first = names('/hanging')
  await jest.advanceTimersByTimeAsync(5_000)
  expect(await first).toEqual(late)
  expect(await names('/hanging')).toEqual(late)
  expect(readdir).toHaveBeenCalledTimes(1)

  listing.resolve(['b.yaml', 'a.yaml'])
  await jest.advanceTimersByTimeAsync(0)
  expect(await names('/hanging')).toEqual({ kind: 'read', names: ['a.yaml', 'b.yaml'] })
})
