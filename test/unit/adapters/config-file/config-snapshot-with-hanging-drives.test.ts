import * as realFs from 'node:fs/promises'
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'

/**
 * The pending result of all reads, as if the files were on a network disk that does not respond.
 */
let listing = Promise.withResolvers<string[]>()
const readdir = jest.fn((_: string) => listing.promise)
const open = jest.fn((_: string) => listing.promise)
jest.unstable_mockModule('node:fs/promises', () => ({ ...realFs, readdir, open }))
const { createConfigSnapshot } = await import('../../../../src/adapters/config-file/read-files-and-detect-changes.ts')

const late = {
  kind: 'unreadable',
  message: 'could not be read within 5 s',
  hint: 'check that the disk or network drive of this path responds',
}

beforeEach(() => {
  jest.useFakeTimers()
  readdir.mockClear()
  open.mockClear()
  listing = Promise.withResolvers()
})
afterEach(async () => {
  listing.resolve([])
  await jest.advanceTimersByTimeAsync(0)
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

it('all files of a directory of a network disk that does not respond block one thread', async () => {
  const { text } = createConfigSnapshot()
  const first = text('/team/one.key', '/team')
  await jest.advanceTimersByTimeAsync(5_000)
  expect(await first).toEqual(late)
  expect(await text('/team/two.key', '/team')).toEqual(late)
  expect(open).toHaveBeenCalledTimes(1)
})

/** Reads files or directories that do not respond, each until its time limit. */
async function block(...reads: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const read of reads) {
    const reading = read()
    await jest.advanceTimersByTimeAsync(5_000)
    expect(await reading).toEqual(late)
  }
}
const message = 'was skipped, because reads of other files or directories still hang after 5 s'

it('files of two teams that do not respond do not prevent reads of other files', async () => {
  const { text, names } = createConfigSnapshot()
  await block(
    () => text('/one/a.yaml', '/one'),
    () => text('/two/b.yaml', '/two'),
  )
  const readings = [text('/hookline.yaml'), names('/three'), text('/three/c.yaml', '/three')]
  expect([open.mock.calls.length, readdir.mock.calls.length]).toEqual([4, 1])
  listing.resolve(['a.yaml'])
  await Promise.allSettled(readings)
})

it('files and directories that do not respond block three threads, and the next one is read when a read ends', async () => {
  const { text, names } = createConfigSnapshot()
  await block(
    () => text('/disk/one'),
    () => text('/disk/two'),
    () => names('/three'),
  )
  expect(await text('/disk/three')).toMatchObject({ kind: 'unreadable', message })
  expect(await names('/disk')).toMatchObject({ kind: 'unreadable', message })
  expect(await text('/disk/one')).toEqual(late)
  expect([open.mock.calls.length, readdir.mock.calls.length]).toEqual([2, 1])

  listing.resolve(['a.yaml'])
  await jest.advanceTimersByTimeAsync(0)
  expect(await names('/disk')).toEqual({ kind: 'read', names: ['a.yaml'] })
})

it('the digests of removed files are not kept while the list of a directory changes in each check', async () => {
  let { digests } = createConfigSnapshot()
  for (const name of ['one.yaml', 'two.yaml', 'three.yaml']) {
    readdir.mockResolvedValueOnce([name])
    open.mockRejectedValueOnce(Object.assign(new Error(), { code: 'ENOENT' }))
    const snapshot = createConfigSnapshot(digests)
    expect(await snapshot.names('/team')).toMatchObject({
      message: 'changed since the last check, so Hookline does not use its new content yet',
    })
    ;({ digests } = snapshot)
    expect([...digests.keys()]).toEqual(['\0/team', `/team\0/team/${name}`])
  }
})
