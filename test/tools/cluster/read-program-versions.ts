import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findOrBuildHelm } from '../../../deploy/tools/chart/find-helm.ts'
import { debianPackages } from './download-debian-packages.ts'
import type { Shell } from './shell.ts'

const run = promisify(execFile)

/** Paths of Kafka's jars and of the registry's files. Their names have the versions. */
export interface JavaFiles {
  readonly kafka: string
  readonly registry: string
}

/**
 * Returns the versions of the programs of a cluster, as text: `Kubernetes v1.34.2, containerd
 * 1.6.20, …`.
 */
export async function versionsOf(shell: Shell, { kafka, registry }: JavaFiles): Promise<string> {
  const { serverVersion } = JSON.parse(await shell('kubectl version --output json'))
  const { status } = JSON.parse(await shell('kubectl get node node --output json'))
  const { containerRuntimeVersion, kernelVersion } = status.nodeInfo as Readonly<Record<string, string>>
  const runc = await run(join(await debianPackages(), 'usr/sbin/runc'), ['--version'])
  const node = await shell('kubectl --namespace hookline exec deploy/hookline-dispatcher -- /nodejs/bin/node --version')
  return [
    `Kubernetes ${serverVersion.gitVersion}`,
    containerRuntimeVersion?.replace('://', ' '),
    runc.stdout.split('\n', 1)[0]?.replace(' version', ''),
    `Helm ${await helmVersion(shell)}`,
    `Kafka ${versionIn(kafka)}`,
    `Apicurio ${versionIn(registry)}`,
    `Node ${node.trim()}`,
    `Linux ${kernelVersion}`,
    existsSync('/sys/fs/cgroup/cgroup.controllers') ? 'cgroup v2' : 'cgroup v1',
  ].join(', ')
}

/** Prefers the version in Helm's path, because a Helm built here prints only `v4.2`. */
async function helmVersion(shell: Shell): Promise<string> {
  return versionIn(await findOrBuildHelm()) ?? (await shell(`helm version --template '{{.Version}}'`))
}

const versionIn = (path: string): string | undefined => /-v?(\d+\.\d+\.\d+)/.exec(path)?.[1]
