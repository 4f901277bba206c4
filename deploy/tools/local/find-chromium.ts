import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withLock } from './file-lock.ts'
import { firstAvailable, type Option, unavailable } from './first-available-option.ts'
import { cacheDirectory } from './make-once-in-cache.ts'

const run = promisify(execFile)
const installTimeoutMs = 8 * 60_000
const programs = ['chromium', 'chromium-browser', 'google-chrome'] as const

/**
 * Returns the path of Chromium. Installs the Debian package if needed: a download of Chromium alone
 * lacks libraries.
 * @throws NothingAvailable with the missing requirements
 */
export async function findChromium(
  env: NodeJS.ProcessEnv = process.env,
  log: (line: string) => void = line => void process.stderr.write(`${line}\n`),
): Promise<string> {
  return firstAvailable('Chromium', [named(env), onPath(env), debianPackage(env, log)], log)
}

const named = (env: NodeJS.ProcessEnv): Option<string> => ({
  name: 'CHROMIUM',
  async find() {
    const path = env['CHROMIUM']
    if (!path) return unavailable('not set', 'Set it to the path of Chromium or Chrome.')
    return existsSync(path)
      ? { kind: 'available', value: path }
      : unavailable(`${path} does not exist`, 'Set it to the path of Chromium or Chrome.')
  },
})

const onPath = (env: NodeJS.ProcessEnv): Option<string> => ({
  name: 'the PATH',
  async find() {
    const path = pathOfProgram(env)
    return path === undefined
      ? unavailable(`none of ${programs.join(', ')} is installed`, 'Install Chromium.')
      : { kind: 'available', value: path }
  },
})

const debianPackage = (env: NodeJS.ProcessEnv, log: (line: string) => void): Option<string> => ({
  name: 'the package of Debian',
  async find() {
    if (process.getuid?.() !== 0) return unavailable('only root can install it', 'As root: apt-get install chromium.')
    try {
      await withLock(join(cacheDirectory(env), 'chromium.lock'), () => install(env, log))
    } catch (error) {
      const [first = ''] = (error as Error).message.trim().split('\n').reverse()
      return unavailable(`apt-get failed: ${first}`, 'This option needs Debian.')
    }
    const path = pathOfProgram(env)
    return path === undefined
      ? unavailable('the package has no program chromium', 'This option needs Debian.')
      : { kind: 'available', value: path }
  },
})

/** Installs the package, unless another process did so while this one waited for the lock. */
async function install(env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<void> {
  if (pathOfProgram(env) !== undefined) return
  log('installing Chromium (100 MB) with apt-get')
  const options = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: installTimeoutMs }
  const packages = ['install', '--yes', '--quiet', '--no-install-recommends', 'chromium', 'fonts-liberation']
  await run('apt-get', packages, options).catch(async () => {
    // The package lists of the machine may be missing or out of date.
    await run('apt-get', ['update', '--quiet'], options)
    await run('apt-get', packages, options)
  })
}

const pathOfProgram = (env: NodeJS.ProcessEnv): string | undefined =>
  programs
    .flatMap(name => (env['PATH'] ?? '').split(':').map(directory => join(directory, name)))
    .find(path => existsSync(path))
