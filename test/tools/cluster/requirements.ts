import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Programs that must be installed: each runs with the arguments `words`. `why` is its purpose. */
const programs: readonly (readonly [name: string, words: readonly string[], why: string])[] = [
  ['go', ['version'], 'Go 1.26 or newer, which builds Kubernetes'],
  ['apt-get', ['--version'], 'apt-get, which downloads containerd, runc, nftables and iptables'],
  ['dpkg', ['--version'], 'dpkg, which unpacks them'],
  ['ip', ['-V'], 'ip (package iproute2), which connects the node'],
  ['nsenter', ['--version'], 'nsenter and unshare (package util-linux)'],
  ['tar', ['--version'], 'tar, which writes images'],
  ['java', ['-version'], 'Java 17 or newer, which runs Kafka'],
  ['openssl', ['version'], 'openssl, which makes the secrets of the deployment page'],
]

export async function lackingForCluster(
  { platform, uid }: { readonly platform: string; readonly uid: number | undefined } = {
    platform: process.platform,
    uid: process.getuid?.(),
  },
  has: (name: string, words: readonly string[]) => Promise<boolean> = isThere,
): Promise<readonly string[]> {
  const found = await Promise.all(programs.map(([name, words]) => has(name, words)))
  return [
    ...(platform === 'linux' ? [] : ['Linux']),
    ...(uid === 0 ? [] : ['root, because the node has its own namespaces']),
    ...programs.flatMap(([, , why], index) => (found[index] ? [] : [why])),
  ]
}

const isThere = (name: string, words: readonly string[]): Promise<boolean> =>
  run(name, [...words]).then(
    () => true,
    () => false,
  )
