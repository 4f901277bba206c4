import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { firstAvailable, type Option, unavailable } from '../local/first-available-option.ts'
import { cacheDirectory, makeOnce } from '../local/make-once-in-cache.ts'

const run = promisify(execFile)

/** The version that is built if Helm is not installed. */
export const helmVersion = 'v4.2.4'
/** Kubernetes version for which the manifests are rendered and checked. */
export const kubernetesVersion = '1.36.0'
const module = `helm.sh/helm/v4/cmd/helm@${helmVersion}`
const buildTimeoutMs = 15 * 60_000

/**
 * Returns the path of a Helm that supports the chart's schema (3.18 or newer).
 * @throws NothingAvailable with what is missing
 */
export async function findOrBuildHelm(env: NodeJS.ProcessEnv = process.env, log = say): Promise<string> {
  return firstAvailable(
    'Helm',
    [named('HELM', env['HELM'], env), named('helm on the PATH', 'helm', env), built(env, log)],
    log,
  )
}

export function isRecent(version: string): boolean {
  const [, major = 0, minor = 0] = (/^v?(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  return major > 3 || (major === 3 && minor >= 18)
}

const named = (name: string, command: string | undefined, env: NodeJS.ProcessEnv): Option<string> => ({
  name,
  async find() {
    const remedy = 'Install Helm 3.18 or newer'
    if (!command) return unavailable('not set', 'Set it to the path of a Helm binary')
    const version = await run(command, ['version', '--template', '{{.Version}}'], { env }).then(
      ({ stdout }) => stdout,
      () => undefined,
    )
    if (version === undefined) return unavailable('not found', remedy)
    return isRecent(version)
      ? { kind: 'available', value: command }
      : unavailable(`its version is ${version.trim()}`, remedy)
  },
})

const built = (env: NodeJS.ProcessEnv, log: (line: string) => void): Option<string> => ({
  name: 'a build with Go',
  async find() {
    const hasGo = await run('go', ['version'], { env }).then(
      () => true,
      () => false,
    )
    if (!hasGo) return unavailable('Go is not installed', 'Install Go 1.26 or newer')
    const directory = await makeOnce(join(cacheDirectory(env), `helm-${helmVersion}`), async temporary => {
      log(
        `building Helm ${helmVersion} with Go, which takes some minutes the first time; it is cached in ${cacheDirectory(env)}`,
      )
      await mkdir(temporary)
      const own = { ...env, GOBIN: temporary, CGO_ENABLED: '0' }
      await run('go', ['install', '-ldflags=-s -w', module], {
        env: own,
        timeout: buildTimeoutMs,
        maxBuffer: 64 * 1_048_576,
      })
    })
    return { kind: 'available', value: join(directory, 'helm') }
  },
})

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
