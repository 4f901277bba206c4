import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheDirectory, makeOnce } from '../../../deploy/tools/local/make-once-in-cache.ts'

const run = promisify(execFile)
const downloadTimeoutMs = 5 * 60_000

/** The programs of a cluster node, except Kubernetes, and their libraries. */
const names: readonly string[] = [
  ...['containerd', 'runc', 'containernetworking-plugins', 'nftables'],
  ...['libnftables1', 'libnftnl11', 'libmnl0', 'libjansson4', 'libedit2', 'libbsd0', 'libseccomp2'],
  // The network plugin calls these programs.
  ...['iptables', 'ipset', 'libxtables12', 'libipset13'],
]

/**
 * Returns a directory with unpacked Debian packages. The first time, downloads them to the user's
 * cache.
 * @throws with apt-get's output
 */
export async function debianPackages(
  env: NodeJS.ProcessEnv = process.env,
  log: (line: string) => void = line => void process.stderr.write(`${line}\n`),
): Promise<string> {
  const digest = createHash('sha256').update(names.join()).digest('hex').slice(0, 8)
  return makeOnce(join(cacheDirectory(env), `node-packages-${digest}`), async temporary => {
    log(`downloading ${names.join(', ')} with apt-get to ${cacheDirectory(env)}`)
    const cwd = await mkdtemp(join(tmpdir(), 'hookline-packages-'))
    try {
      const options = { cwd, env, timeout: downloadTimeoutMs }
      await run('apt-get', ['download', '--quiet', ...names], options).catch(async () => {
        // The package lists of the machine may be missing or out of date.
        await run('apt-get', ['update', '--quiet'], options)
        await run('apt-get', ['download', '--quiet', ...names], options)
      })
      await mkdir(temporary)
      for (const file of await readdir(cwd)) await run('dpkg', ['--extract', join(cwd, file), temporary])
    } finally {
      await rm(cwd, { recursive: true, force: true })
    }
  })
}
