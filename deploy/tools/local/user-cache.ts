import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Maximum age of a lock, so that a hanging download does not block other clones forever. */
const lockIsStaleAfterMs = 10 * 60_000

/** The download cache of this user: `$XDG_CACHE_HOME/hookline`, or else `~/.cache/hookline`. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'hookline')
}

/**
 * Creates `path` (a file or a directory) at most once. `make` writes to a temporary path, which is
 * then renamed. The rename alone makes concurrent processes safe; the lock only avoids duplicate
 * work.
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

/** Runs `work` while holding a lock file. The lock of a dead process is replaced. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true })
  while (!(await createdLock(file))) {
    if (await isStale(file)) await rm(file, { force: true })
    else await delay(100)
  }
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

async function createdLock(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx')
    await handle.write(`${process.pid}\n`)
    await handle.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function isStale(file: string): Promise<boolean> {
  try {
    const [{ mtimeMs }, text] = await Promise.all([stat(file), readFile(file, 'utf8')])
    const ageMs = Date.now() - mtimeMs
    // The lock file is new, and its holder has not written its process id yet.
    if (text === '') return ageMs > 5_000
    return ageMs > lockIsStaleAfterMs || !isAlive(Number(text))
  } catch {
    return false
  }
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

/** Whether a process with this id exists, even of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
