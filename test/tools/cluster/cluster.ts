import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program } from './built-programs.ts'
import { startDns } from './dns-server.ts'
import { debianPackages } from './download-debian-packages.ts'
import { type ControlPlane, startControlPlane } from './etcd-and-api-server.ts'
import { createNetwork, type Node, removeNetwork, startNode } from './node.ts'
import { machineAddress } from './node-addresses-and-files.ts'

/** A Kubernetes cluster with one node on this machine. */
export interface Cluster {
  readonly plane: ControlPlane
  readonly node: Node
  readonly kubeconfig: string
  /** The path of the binary that contains kubectl. */
  readonly kubernetes: string
  readonly pause: string
}

/** Functions that stop or remove the parts of a cluster, in the order of the parts' start. */
export type Cleanup = (() => Promise<void>)[]
const stops = new WeakMap<Cleanup, Promise<void>>()

/**
 * Undoes everything in `cleanup`. A second call awaits the first one.
 * @throws the errors of all parts that could not be stopped
 */
export function stopCluster(cleanup: Cleanup): Promise<void> {
  const stop = stops.get(cleanup) ?? undoAll(cleanup)
  stops.set(cleanup, stop)
  return stop
}

async function undoAll(cleanup: Cleanup): Promise<void> {
  const errors: unknown[] = []
  for (let undo = cleanup.pop(); undo !== undefined; undo = cleanup.pop())
    await undo().catch(error => errors.push(error))
  if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'))
}

/**
 * Starts a cluster. Adds to `cleanup` what `stopCluster` must undo, even if the start fails.
 * @throws with the log of the failed part
 */
export async function startCluster(cleanup: Cleanup): Promise<Cluster> {
  const kubernetes = await program('kubernetes')
  const [pause, packages] = [await program('pause'), await debianPackages()]
  const directory = await mkdtemp(join(tmpdir(), 'hookline-cluster-'))
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  cleanup.push(removeNetwork)
  await createNetwork()
  const plane = await startControlPlane({ kubernetes, directory, address: machineAddress, controllers: true })
  cleanup.push(() => plane.stop())
  const kubeconfig = join(directory, 'kubeconfig')
  await plane.writeKubeconfig(kubeconfig, 'admin')
  cleanup.push(await startDns(plane.api, machineAddress))
  const node = await startNode({ plane, kubernetes, packages, directory })
  cleanup.push(() => node.stop())
  return { plane, node, kubeconfig, kubernetes, pause }
}
