import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isAlive, withLock } from './file-lock.ts'

/** The download cache of this user: `$XDG_CACHE_HOME/hookline`, or else `~/.cache/hookline`. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'hookline')
}

/**
 * Creates `path` (a file or a directory) at most once: `make` writes to a temporary path, which is
 * then renamed. The lock only avoids duplicate work.
 */
export async function makeOnce(path: string, make: (temporary: string) => Promise<void>): Promise<string> {
  if (existsSync(path)) return path
  return withLock(`${path}.lock`, async () => {
    if (existsSync(path)) return path
    await removeLeftovers(path)
    const temporary = `${path}.${process.pid}.${randomUUID().slice(0, 8)}.tmp`
    try {
      await make(temporary)
      await rename(temporary, path).catch(error => {
        if (!existsSync(path)) throw error
      })
      return path
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  })
}

/** Deletes temporary files that a killed process left next to `path`. */
async function removeLeftovers(path: string): Promise<void> {
  const start = `${basename(path)}.`
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(start) || !name.endsWith('.tmp')) continue
    if (!isAlive(Number(name.slice(start.length).split('.')[0])))
      await rm(join(dirname(path), name), { recursive: true, force: true })
  }
}
