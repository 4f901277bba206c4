import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withLock } from './file-lock.ts'
import { cacheDirectory } from './make-once-in-cache.ts'

const run = promisify(execFile)

/** Pinned, for reproducible downloads. */
const dependencyPlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'
const fetchTimeoutMs = 5 * 60_000

export async function hasMaven(): Promise<boolean> {
  return run('mvn', ['--version'], { timeout: 20_000 }).then(
    () => true,
    () => false,
  )
}

/** Downloads `what` with a goal of the dependency plugin. @throws Error with Maven's output */
export async function fetchWithMaven(what: string, goal: string, args: readonly string[]): Promise<void> {
  process.stderr.write(`downloading ${what} with Maven to ${cacheDirectory()}\n`)
  // A goal without a project creates directories in the working directory.
  const cwd = await mkdtemp(join(tmpdir(), 'hookline-maven-'))
  try {
    // Concurrent Maven processes can corrupt the shared local repository.
    await withLock(join(cacheDirectory(), 'maven.lock'), () =>
      run('mvn', ['--batch-mode', '--quiet', ...args, `${dependencyPlugin}:${goal}`], { cwd, timeout: fetchTimeoutMs }),
    )
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
    throw new Error(`Maven could not download ${what}:\n${(stdout + stderr).trim() || cause}`, { cause })
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}
