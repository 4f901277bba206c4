import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheDirectory, makeOnce } from './user-cache.ts'
import { type Attempt, firstOpenWay, type Way } from './ways.ts'

const run = promisify(execFile)
const fetchTimeoutMs = 5 * 60_000

/** The server, and the tool that checks and tests rules. */
export interface Prometheus {
  readonly server: string
  readonly promtool: string
}

/**
 * Prometheus: what PROMETHEUS_HOME names, else what is on the PATH, else Debian's package, unpacked into the user's cache: so no service is
 * installed or started, and nobody has to be root.
 * @throws NothingAvailable with what is missing.
 */
export async function findPrometheus(
  env: NodeJS.ProcessEnv = process.env,
  log: (line: string) => void = line => void process.stderr.write(`${line}\n`),
): Promise<Prometheus> {
  return firstOpenWay('Prometheus', [named(env), onPath(env), debianPackage(env)], log)
}

const named = (env: NodeJS.ProcessEnv): Way<Prometheus> => ({
  name: 'PROMETHEUS_HOME',
  async attempt() {
    const home = env['PROMETHEUS_HOME']
    if (!home) return closed('not set', 'Set it to a directory with the programs prometheus and promtool.')
    const found = programsIn(home)
    return existsSync(found.promtool) && existsSync(found.server)
      ? { kind: 'got', it: found }
      : closed(`${home} has no prometheus and promtool`, 'Set it to a directory with both.')
  },
})

const onPath = (env: NodeJS.ProcessEnv): Way<Prometheus> => ({
  name: 'the PATH',
  async attempt() {
    const works = await Promise.all(['prometheus', 'promtool'].map(name => answers(name, ['--version'], env)))
    return works.every(Boolean)
      ? { kind: 'got', it: { server: 'prometheus', promtool: 'promtool' } }
      : closed('no prometheus and promtool', 'Install Prometheus (macOS: brew install prometheus).')
  },
})

const debianPackage = (env: NodeJS.ProcessEnv): Way<Prometheus> => ({
  name: 'the package of Debian or Ubuntu',
  async attempt() {
    const directory = join(cacheDirectory(env), 'prometheus')
    const remedy = 'On Debian and Ubuntu: apt-get install prometheus.'
    if (!existsSync(directory) && !(await answers('apt-get', ['--version'], env))) return closed('no apt-get', remedy)
    try {
      return { kind: 'got', it: programsIn(join(await makeOnce(directory, unpack), 'usr', 'bin')) }
    } catch (error) {
      return closed(`it cannot be fetched: ${(error as Error).message.trim()}`, remedy)
    }
  },
})

async function unpack(into: string): Promise<void> {
  process.stderr.write(`fetching Prometheus (20 MB) with apt-get; it is kept in ${cacheDirectory()}\n`)
  const cwd = await mkdtemp(join(tmpdir(), 'hookline-prometheus-'))
  const download = (): Promise<unknown> =>
    run('apt-get', ['download', '--quiet', 'prometheus'], { cwd, timeout: fetchTimeoutMs })
  try {
    await download().catch(async () => {
      // A fresh machine has no lists of packages yet, and only root may fetch them.
      await run('apt-get', ['update', '--quiet'], { timeout: fetchTimeoutMs })
      await download()
    })
    const archive = (await readdir(cwd)).find(name => name.endsWith('.deb'))
    if (archive === undefined) throw new Error('apt-get has brought no package')
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

const closed = (why: string, remedy: string): Attempt<never> => ({ kind: 'unavailable', why, remedy })

const answers = (command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> =>
  run(command, args, { env, timeout: 20_000 }).then(
    () => true,
    () => false,
  )
