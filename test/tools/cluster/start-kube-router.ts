import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { arch } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { startGuarded, tailOf, untilReady } from '../../../deploy/tools/local/guarded-process.ts'
import { program } from './built-programs.ts'
import { type ControlPlane, serviceAddresses } from './etcd-and-api-server.ts'
import { nodeAddress } from './node-addresses-and-files.ts'

const run = promisify(execFile)
const startTimeoutMs = 60_000
const healthPort = 20_244

export interface PluginOptions {
  readonly plane: ControlPlane
  readonly packages: string
  readonly directory: string
  readonly networkNamespace: string
}

/**
 * Starts only kube-router's enforcement of network policies. Resolves with a function that stops it
 * and removes its rules.
 * @throws with kube-router's log
 */
export async function startNetworkPlugin(options: PluginOptions): Promise<() => Promise<void>> {
  const { plane, packages, directory, networkNamespace } = options
  const kubeRouter = await program('kube-router')
  const env = await environment(packages, join(directory, 'network-plugin'))
  const [kubeconfig, file] = ['kube-router.conf', 'kube-router.log'].map(name => join(directory, name)) as [
    string,
    string,
  ]
  await plane.writeKubeconfig(kubeconfig, 'admin')
  const inNode = [`--net=${networkNamespace}`]
  const started = startGuarded({
    command: 'nsenter',
    args: [
      ...[...inNode, kubeRouter, '--run-firewall=true', '--run-router=false', '--run-service-proxy=false'],
      ...[`--kubeconfig=${kubeconfig}`, '--hostname-override=node', `--service-cluster-ip-range=${serviceAddresses}`],
      `--health-port=${healthPort}`,
    ],
    ...{ env, output: { file } },
  })
  const isHealthy = (): Promise<boolean> =>
    fetch(`http://${nodeAddress}:${healthPort}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  try {
    await untilReady(started, isHealthy, { everyMs: 250, patienceMs: startTimeoutMs })
  } catch (error) {
    await started.kill()
    throw new Error(`kube-router did not start: ${(error as Error).message}\n${await tailOf(file)}`, { cause: error })
  }
  return async () => {
    await started.stop()
    // Chains refer to sets, so the chains are deleted first.
    for (const words of [
      ['iptables', '--flush'],
      ['iptables', '--delete-chain'],
      ['ipset', 'destroy'],
    ])
      await run('nsenter', [...inNode, ...words], { env })
  }
}

/**
 * Links `xtables-nft-multi` under the names of the three iptables programs, because the packages
 * are only unpacked, not installed.
 */
async function environment(packages: string, links: string): Promise<NodeJS.ProcessEnv> {
  await mkdir(links, { recursive: true })
  const libraries = join(packages, 'usr/lib', `${arch() === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
  for (const name of ['iptables', 'iptables-save', 'iptables-restore'])
    await symlink(join(packages, 'usr/sbin/xtables-nft-multi'), join(links, name)).catch(ignoreExisting)
  return {
    PATH: [links, join(packages, 'usr/sbin'), process.env['PATH']].join(delimiter),
    LD_LIBRARY_PATH: libraries,
    XTABLES_LIBDIR: join(libraries, 'xtables'),
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
