import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheDirectory, makeOnce } from '../../../deploy/tools/local/make-once-in-cache.ts'

const run = promisify(execFile)
const sources = join(import.meta.dirname, 'go')
/** Time limit of a build, in ms. The build of Kubernetes needs 10 minutes on two idle cores. */
const buildTimeoutMs = 60 * 60_000

/** Programs that Go builds from their directories in `go`. */
export type Program = 'autoscalers' | 'kube-router' | 'kubernetes' | 'pause' | 'traefik'

/**
 * Returns the path of a program. Builds and caches it if missing.
 * @throws with the end of Go's output
 */
export async function program(
  name: Program,
  env: NodeJS.ProcessEnv = process.env,
  log: (line: string) => void = line => void process.stderr.write(`${line}\n`),
): Promise<string> {
  return makeOnce(await placeOf(name, env), async temporary => {
    log(`building ${name} with Go, which takes some minutes the first time; it is cached in ${cacheDirectory(env)}`)
    await build(join(sources, name), temporary, env)
  })
}

/** Returns the path of a program if it is in the user's cache. */
export async function cachedProgram(name: Program, env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  const path = await placeOf(name, env)
  return existsSync(path) ? path : undefined
}

const placeOf = async (name: Program, env: NodeJS.ProcessEnv): Promise<string> =>
  join(cacheDirectory(env), `${name}-${await digestOf(join(sources, name))}`)

/** A change of a file changes the digest, which causes a new build. */
async function digestOf(directory: string): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(directory)).toSorted())
    hash.update(`${name}\n`).update(await readFile(join(directory, name)))
  return hash.digest('hex').slice(0, 8)
}

/** Builds a copy of the directory, because Go changes `go.mod` and writes `go.sum`. */
async function build(directory: string, file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), 'hookline-go-'))
  try {
    await cp(directory, cwd, { recursive: true })
    const goMod = await readFile(join(directory, 'go.mod'), 'utf8')
    const options = ['-mod=mod', '-buildvcs=false', '-trimpath', `-ldflags=-s -w ${versionSettings(goMod)}`]
    await run('go', ['build', ...options, ...targetOf(goMod, file)], {
      cwd,
      env: { ...env, CGO_ENABLED: '0' },
      timeout: buildTimeoutMs,
      maxBuffer: 64 * 1_048_576,
    })
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string }
    throw new Error(`Go could not build ${directory}:\n${stderr.trim().split('\n').slice(-20).join('\n') || cause}`, {
      cause,
    })
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

/**
 * Arguments of `go build`. `path` is a directory if `goMod` lists several tools, and otherwise the
 * file of the program.
 */
export function targetOf(goMod: string, path: string): readonly string[] {
  if (/^tool \(/m.test(goMod)) return ['-o', `${path}/`, 'tool']
  return ['-o', path, /^tool /m.test(goMod) ? 'tool' : '.']
}

/**
 * Linker flags with the version of Kubernetes in `goMod`. Without them, the API server calls itself
 * v0.0.0, and Helm refuses the chart.
 */
export function versionSettings(goMod: string): string {
  const [, version, major, minor] = /\bk8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/.exec(goMod) ?? []
  if (version === undefined) return ''
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
    .flatMap(name => Object.entries(values).map(([key, value]) => `-X ${name}.${key}=${value}`))
    .join(' ')
}
