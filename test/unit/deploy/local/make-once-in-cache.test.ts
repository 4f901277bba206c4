import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { cacheDirectory, makeOnce } from '../../../../deploy/tools/local/make-once-in-cache.ts'

/** A process id that does not exist: it is above the maximum of every system. */
const noSuchPid = 2 ** 30

describe('cacheDirectory', () => {
  it.each([
    ['XDG_CACHE_HOME', { XDG_CACHE_HOME: '/cache' }, '/cache/hookline'],
    ['the home directory', {}, join(homedir(), '.cache', 'hookline')],
    ['the home directory when the variable is empty', { XDG_CACHE_HOME: '' }, join(homedir(), '.cache', 'hookline')],
  ])('is in %s', (_, env, expected) => {
    expect(cacheDirectory(env)).toBe(expected)
  })
})

describe('makeOnce', () => {
  let dir: string
  let path: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hookline-cache-test-'))
    path = join(dir, 'jars')
  })
  afterEach(() => rm(dir, { recursive: true }))

  it('creates an entry once, for any number of concurrent calls', async () => {
    let made = 0
    const make = async (temporary: string): Promise<void> => {
      made += 1
      await mkdir(temporary)
      await writeFile(join(temporary, 'a.jar'), 'jar')
    }
    await Promise.all([makeOnce(path, make), makeOnce(path, make), makeOnce(path, make)])
    expect(await makeOnce(path, make)).toBe(path)
    expect(made).toBe(1)
    expect(await readdir(dir)).toEqual(['jars'])
    expect(await readFile(join(path, 'a.jar'), 'utf8')).toBe('jar')
  })

  it('hides an entry whose creation failed, and creates it at the next call', async () => {
    const fail = async (temporary: string): Promise<void> => {
      await writeFile(temporary, 'half')
      throw new Error('no network')
    }
    await expect(makeOnce(path, fail)).rejects.toThrow('no network')
    expect(await readdir(dir)).toEqual([])
    await makeOnce(path, temporary => writeFile(temporary, 'whole'))
    expect(await readFile(path, 'utf8')).toBe('whole')
  })

  it('keeps the entry that another process created first', async () => {
    await makeOnce(path, async temporary => {
      await mkdir(temporary)
      await writeFile(join(temporary, 'a'), 'ours')
      await mkdir(path)
      await writeFile(join(path, 'a'), 'theirs')
    })
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('theirs')
    expect(await readdir(dir)).toEqual(['jars'])
  })

  it('removes the files of a killed process, and no others', async () => {
    await writeFile(`${path}.${noSuchPid}.0a.tmp`, '')
    await writeFile(`${path}.${process.pid}.0b.tmp`, '')
    await writeFile(`${path}-other.${noSuchPid}.0c.tmp`, '')
    await makeOnce(path, temporary => writeFile(temporary, ''))
    expect((await readdir(dir)).sort()).toEqual([
      'jars',
      `jars-other.${noSuchPid}.0c.tmp`,
      `jars.${process.pid}.0b.tmp`,
    ])
  })
})
