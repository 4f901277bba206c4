import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { findOrBuildHelm } from '../../../deploy/tools/chart/find-helm.ts'
import type { Cluster } from './cluster.ts'

const run = promisify(execFile)
export const repository = join(import.meta.dirname, '../../..')
const scriptTimeoutMs = 300_000

/** Runs a script with `sh -e`. Resolves with its stdout. @throws with the script and its output */
export type Shell = (script: string) => Promise<string>

/**
 * Opens a shell with kubectl and helm in `directory`, in which `deploy` is a link to the
 * repository's folder.
 */
export async function openShell(directory: string, { kubeconfig, kubernetes }: Cluster): Promise<Shell> {
  const programs = join(directory, 'bin')
  await mkdir(programs)
  await symlink(join(repository, 'deploy'), join(directory, 'deploy'))
  const helm = await findOrBuildHelm()
  // If `helm` is a name and not a path, Helm is on the PATH already and needs no link.
  if (isAbsolute(helm)) await symlink(helm, join(programs, 'helm'))
  await writeFile(join(programs, 'kubectl'), `#!/bin/sh\nexec '${kubernetes}' kubectl "$@"\n`, { mode: 0o755 })
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    HOME: directory,
    PATH: [programs, dirname(process.execPath), process.env['PATH']].join(delimiter),
  }
  return async script => {
    const words = ['-e', '-c', script]
    const options = { cwd: directory, env, timeout: scriptTimeoutMs, maxBuffer: 16 * 1_048_576 }
    const { stdout } = await run('/bin/sh', words, options).catch(cause => {
      const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
      throw new Error(`${script.trim()}\nfailed: ${(stdout + stderr).trim() || cause}`, { cause })
    })
    return stdout
  }
}
