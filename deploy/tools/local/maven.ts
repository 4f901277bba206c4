import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheDirectory, withLock } from './user-cache.ts'

const run = promisify(execFile)

/** Pinned, so that a fetch does the same on every machine. */
const dependencyPlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'
const fetchTimeoutMs = 5 * 60_000

/** Whether `mvn` can be run here. */
export async function hasMaven(): Promise<boolean> {
  return run('mvn', ['--version'], { timeout: 20_000 }).then(
    () => true,
    () => false,
  )
}

/** Fetches `what` with one goal of the dependency plugin, and says so, for it takes a while; an error carries Maven's own words. */
export async function fetchWithMaven(what: string, goal: string, args: readonly string[]): Promise<void> {
  process.stderr.write(`fetching ${what} with Maven; it is kept in ${cacheDirectory()}\n`)
  // Goals without a project leave directories named after it where they run.
  const cwd = await mkdtemp(join(tmpdir(), 'hookline-maven-'))
  try {
    // Two Mavens at once can spoil the local repository that they share.
    await withLock(join(cacheDirectory(), 'maven.lock'), () =>
      run('mvn', ['--batch-mode', '--quiet', ...args, `${dependencyPlugin}:${goal}`], { cwd, timeout: fetchTimeoutMs }),
    )
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
    throw new Error(`Maven could not fetch ${what}:\n${(stdout + stderr).trim() || cause}`, { cause })
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}
