import { existsSync } from 'node:fs'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { withLock } from '../../../../deploy/tools/local/file-lock.ts'

/** A process id that does not exist: it is above the maximum of every system. */
const noSuchPid = 2 ** 30

describe('withLock', () => {
  let lock: string
  beforeEach(async () => {
    lock = join(await mkdtemp(join(tmpdir(), 'hookline-lock-test-')), 'maven.lock')
  })
  afterEach(() => rm(join(lock, '..'), { recursive: true }))

  it('admits one caller at a time, and the next one after a failure', async () => {
    let inside = 0
    const order: number[] = []
    const work = (id: number) => async (): Promise<void> => {
      expect(++inside).toBe(1)
      await new Promise(setImmediate)
      inside -= 1
      order.push(id)
      if (id === 1) throw new Error('failed')
    }
    const results = await Promise.allSettled([1, 2, 3].map(id => withLock(lock, work(id))))
    expect(order.sort()).toEqual([1, 2, 3])
    expect(results.filter(each => each.status === 'rejected')).toHaveLength(1)
    expect(existsSync(lock)).toBe(false)
  })

  it.each([
    ['its holder is gone', `${noSuchPid}\n`, 0],
    ['it is older than any download may take', `${process.pid}\n`, 11 * 60],
    ['its holder died before it wrote its process id', '', 6],
  ])('is taken over when %s', async (_, text, ageSeconds) => {
    await writeFile(lock, text)
    const then = Date.now() / 1000 - ageSeconds
    await utimes(lock, then, then)
    expect(await withLock(lock, async () => 'done')).toBe('done')
  })
})
