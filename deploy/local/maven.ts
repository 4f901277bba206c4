import { execFile } from 'node:child_process'
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

/** Runs one goal of the dependency plugin; an error carries Maven's own words. */
export async function maven(goal: string, args: readonly string[]): Promise<void> {
  try {
    // Two Mavens at once can spoil the local repository that they share.
    await withLock(join(cacheDirectory(), 'maven.lock'), () =>
      run('mvn', ['--batch-mode', '--quiet', ...args, `${dependencyPlugin}:${goal}`], { timeout: fetchTimeoutMs }),
    )
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
    throw new Error(`Maven could not do ${goal}:\n${(stdout + stderr).trim() || cause}`, { cause })
  }
}
