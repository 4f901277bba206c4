import { mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * A lock of this age is replaced even if its process is alive: the process may hang in a download.
 */
const lockIsStaleAfterMs = 10 * 60_000

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
    // An empty file after 5 s means that its process ended before it wrote its process id.
    if (text === '') return ageMs > 5_000
    return ageMs > lockIsStaleAfterMs || !isAlive(Number(text))
  } catch {
    return false
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
