import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { firstAvailable, type Option, unavailable } from './first-available-option.ts'
import { cacheDirectory, makeOnce } from './make-once-in-cache.ts'

const run = promisify(execFile)
const fetchTimeoutMs = 5 * 60_000

/** The paths of the Prometheus server and of promtool, which tests rules. */
export interface Prometheus {
  readonly server: string
  readonly promtool: string
}

/**
 * Finds Prometheus in PROMETHEUS_HOME or on the PATH. Otherwise unpacks the Debian package to the
 * user's cache, which needs no root rights.
 * @throws NothingAvailable with the missing requirements
 */
export async function findPrometheus(
  env: NodeJS.ProcessEnv = process.env,
  log: (line: string) => void = line => void process.stderr.write(`${line}\n`),
): Promise<Prometheus> {
  return firstAvailable('Prometheus', [named(env), onPath(env), debianPackage(env)], log)
}

const named = (env: NodeJS.ProcessEnv): Option<Prometheus> => ({
  name: 'PROMETHEUS_HOME',
  async find() {
    const home = env['PROMETHEUS_HOME']
    if (!home) return unavailable('not set', 'Set it to a directory with the programs prometheus and promtool.')
    const found = programsIn(home)
    return existsSync(found.promtool) && existsSync(found.server)
      ? { kind: 'available', value: found }
      : unavailable(`${home} does not contain both prometheus and promtool`, 'Set it to a directory with both.')
  },
})

const onPath = (env: NodeJS.ProcessEnv): Option<Prometheus> => ({
  name: 'the PATH',
  async find() {
    const works = await Promise.all(['prometheus', 'promtool'].map(name => answers(name, ['--version'], env)))
    return works.every(Boolean)
      ? { kind: 'available', value: { server: 'prometheus', promtool: 'promtool' } }
      : unavailable('prometheus or promtool is missing', 'Install Prometheus (macOS: brew install prometheus).')
  },
})

const debianPackage = (env: NodeJS.ProcessEnv): Option<Prometheus> => ({
  name: 'the package of Debian or Ubuntu',
  async find() {
    const directory = join(cacheDirectory(env), 'prometheus')
    const remedy = 'On Debian and Ubuntu: apt-get install prometheus.'
    if (!existsSync(directory) && !(await answers('apt-get', ['--version'], env)))
      return unavailable('apt-get is missing', 'This option needs Debian or Ubuntu.')
    try {
      return { kind: 'available', value: programsIn(join(await makeOnce(directory, unpack), 'usr', 'bin')) }
    } catch (error) {
      return unavailable(`download failed: ${(error as Error).message.trim()}`, remedy)
    }
  },
})

async function unpack(into: string): Promise<void> {
  process.stderr.write(`downloading Prometheus (20 MB) with apt-get to ${cacheDirectory()}\n`)
  const cwd = await mkdtemp(join(tmpdir(), 'hookline-prometheus-'))
  const download = (): Promise<unknown> =>
    run('apt-get', ['download', '--quiet', 'prometheus'], { cwd, timeout: fetchTimeoutMs })
  try {
    await download().catch(async () => {
      // A new machine has no package lists yet. Only root may download them.
      await run('apt-get', ['update', '--quiet'], { timeout: fetchTimeoutMs })
      await download()
    })
    const archive = (await readdir(cwd)).find(name => name.endsWith('.deb'))
    if (archive === undefined) throw new Error('apt-get downloaded no package')
    await mkdir(into)
    await run('dpkg-deb', ['--extract', join(cwd, archive), into])
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

const programsIn = (directory: string): Prometheus => ({
  server: join(directory, 'prometheus'),
  promtool: join(directory, 'promtool'),
})

const answers = (command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> =>
  run(command, args, { env, timeout: 20_000 }).then(
    () => true,
    () => false,
  )
