import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startGuarded, tailOf, untilReady } from '../../../deploy/tools/local/guarded-process.ts'
import { type ControlPlane, serviceAddresses } from './etcd-and-api-server.ts'
import {
  clientAddress,
  machineAddress,
  nodeAddress,
  nodeFiles,
  podAddresses,
  publicAddress,
} from './node-addresses-and-files.ts'
import { startNetworkPlugin } from './start-kube-router.ts'

const run = promisify(execFile)
const startTimeoutMs = 120_000
const stopTimeoutMs = 60_000
const namespace = 'hookline-cluster'
const cable = 'hookline0'
const namespaces = '/run/netns'
const cgroups = '/sys/fs/cgroup'

export interface Node {
  importImage(archive: string): Promise<void>
  /**
   * Starts a plugin that enforces network policies. Resolves with a function that stops it and
   * removes its rules.
   */
  startNetworkPlugin(): Promise<() => Promise<void>>
  stop(): Promise<void>
}

export interface NodeOptions {
  readonly plane: ControlPlane
  readonly kubernetes: string
  readonly packages: string
  readonly directory: string
}

/** Size of the in-memory file system of the pods' volumes: so small that a scenario can fill it. */
const kubeletDiskBytes = 2 * 1_024 * 1_048_576

/**
 * The script of the node's first process, with which all processes and mounts of the node end.
 * - The script hides directories of this machine in which programs would leave files.
 * - It mounts files over /proc/sys with the values that the kubelet requires, so that the kubelet
 *   changes no parameter of this machine.
 */
const script = `
set -e
directory=$1 kubernetes=$2 packages=$3
mount --make-rshared /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /var/lib
mkdir -p /run/netns /run/lock /run/parameters "$directory/kubelet"
mount -t tmpfs -o size=${kubeletDiskBytes} tmpfs "$directory/kubelet"
mount --bind "$directory/log" /var/log
for parameter in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1; do
  name=\${parameter%=*}
  echo "\${parameter#*=}" > "/run/parameters/\${name#*/}"
  mount --bind "/run/parameters/\${name#*/}" "/proc/sys/$name"
done
ip link set lo up
echo 1 > /proc/sys/net/ipv4/ip_forward
PATH=$packages/usr/bin:$packages/usr/sbin:$packages/sbin:$PATH
export PATH
containerd --config "$directory/containerd.toml" > "$directory/containerd.log" 2>&1 &
"$kubernetes" kubelet --config "$directory/kubelet.yaml" --kubeconfig "$directory/kubelet.conf" --root-dir "$directory/kubelet" \
  --hostname-override node --node-ip ${nodeAddress} --node-labels topology.kubernetes.io/zone=a > "$directory/kubelet.log" 2>&1 &
LD_LIBRARY_PATH=$packages/usr/lib/$(uname -m)-linux-gnu "$kubernetes" kube-proxy --config "$directory/proxy.yaml" > "$directory/kube-proxy.log" 2>&1 &
wait
`

/**
 * Connects this machine to the node's network namespace. Without a default route, pods reach only
 * this machine.
 */
export async function createNetwork(): Promise<void> {
  await removeNetwork()
  const commands = [
    ['netns', 'add', namespace],
    ['link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace],
    ['address', 'add', `${publicAddress}/32`, 'dev', cable],
    ...[machineAddress, clientAddress].map(address => ['address', 'add', `${address}/24`, 'dev', cable]),
    ['link', 'set', cable, 'up'],
    ['-n', namespace, 'address', 'add', `${nodeAddress}/24`, 'dev', 'eth0'],
    ['-n', namespace, 'link', 'set', 'eth0', 'up'],
    // The system looks up a route before it applies kube-proxy's rules, so without this route it
    // could not send to a Service.
    ['-n', namespace, 'route', 'add', serviceAddresses, 'via', machineAddress],
    ['-n', namespace, 'route', 'add', publicAddress, 'via', machineAddress],
    ...[serviceAddresses, podAddresses].map(block => ['route', 'add', block, 'via', nodeAddress]),
  ]
  for (const words of commands) await run('ip', words)
}

/** Removes the network of this run, or of a killed run. Deleting `cable` removes its routes. */
export async function removeNetwork(): Promise<void> {
  for (const words of [
    ['link', 'delete', cable],
    ['netns', 'delete', namespace],
  ])
    await run('ip', words).catch(() => undefined)
  // `ip` mounts this directory for its first namespace, and never unmounts it.
  if ((await readdir(namespaces).catch(() => ['?'])).length === 0) {
    await run('umount', [namespaces]).catch(() => undefined)
    await rmdir(namespaces)
  }
}

/**
 * Resolves when the API server reports the node as ready.
 * @throws with the logs
 */
export async function startNode(options: NodeOptions): Promise<Node> {
  const { plane, kubernetes, packages, directory } = options
  await writeNodeFiles(options)
  const spaces = ['--mount', '--pid', '--fork', '--kill-child=SIGKILL', '--propagation', 'private']
  const shell = ['/bin/sh', '-c', script, 'node', directory, kubernetes, packages]
  const first = startGuarded({
    command: 'nsenter',
    args: [`--net=${namespaces}/${namespace}`, 'unshare', ...spaces, ...shell],
    output: { file: join(directory, 'node.log') },
  })
  const stop = async (): Promise<void> => {
    await first.kill()
    await removeCgroups()
  }
  const socket = join(directory, 'containerd.sock')
  try {
    const isNodeReady = async (): Promise<boolean> => existsSync(socket) && (await isReady(plane))
    await untilReady(first, isNodeReady, { everyMs: 100, patienceMs: startTimeoutMs })
  } catch (error) {
    await stop()
    const logs = await Promise.all(
      ['node', 'containerd', 'kubelet', 'kube-proxy'].map(name => tailOf(join(directory, `${name}.log`), 8)),
    )
    throw new Error(`the node did not start: ${(error as Error).message}\n${logs.join('\n')}`, { cause: error })
  }
  return {
    async importImage(archive) {
      const words = ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]
      await run(join(packages, 'usr/bin/ctr'), words)
    },
    startNetworkPlugin: () =>
      startNetworkPlugin({ plane, packages, directory, networkNamespace: `${namespaces}/${namespace}` }),
    stop,
  }
}

async function writeNodeFiles({ plane, packages, directory }: NodeOptions): Promise<void> {
  await mkdir(join(directory, 'log'), { recursive: true })
  for (const [name, text] of nodeFiles({ directory, packages })) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  await plane.writeKubeconfig(join(directory, 'kubelet.conf'), 'system:node:node')
  await plane.writeKubeconfig(join(directory, 'proxy.conf'), 'system:kube-proxy')
}

async function isReady({ api }: ControlPlane): Promise<boolean> {
  const { body } = await api.ask('GET', '/api/v1/nodes/node')
  const { conditions = [] } = (body['status'] ?? {}) as { conditions?: { type: string; status: string }[] }
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** Removes the control groups that the kubelet created, children first. */
async function removeCgroups(): Promise<void> {
  const roots = [cgroups, ...(await readdir(cgroups)).map(name => join(cgroups, name))]
  // Several of these directories may be links to one: for example, `cpu` and `cpuacct` link to
  // `cpu,cpuacct`.
  const groups = roots.map(root => join(root, 'kubepods')).filter(existsSync)
  for (const pods of new Set(groups.map(path => realpathSync(path)))) {
    const inside = await readdir(pods, { recursive: true, withFileTypes: true })
    const directories = inside.filter(each => each.isDirectory()).map(each => join(each.parentPath, each.name))
    for (const path of [pods, ...directories].toSorted((a, b) => b.length - a.length)) await removeCgroup(path)
  }
}

/**
 * Removes a control group. The system refuses this until the killed processes in the group are
 * gone, so the removal is repeated.
 */
async function removeCgroup(path: string): Promise<void> {
  const deadline = performance.now() + stopTimeoutMs
  for (;;) {
    const error = await rmdir(path).catch((cause: NodeJS.ErrnoException) => cause)
    if (error === undefined) return
    if (error.code !== 'EBUSY' || performance.now() > deadline) throw error
    await delay(50)
  }
}
