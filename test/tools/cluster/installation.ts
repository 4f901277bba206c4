import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { findJava } from '../../../deploy/tools/local/find-java.ts'
import { kafkaJars } from '../../../deploy/tools/local/kafka-jars.ts'
import { registryFiles, registryPath } from '../../../deploy/tools/local/schema-registry.ts'
import { Ledger } from '../chaos/message-ledger.ts'
import { processHeader, type Receiver, startReceiver } from '../chaos/receiver.ts'
import type { Cluster } from './cluster.ts'
import { type DeployPage, readDeployPage } from './deploy-page-commands.ts'
import { hooklineRepository, importImages } from './import-images.ts'
import { kafkaManifests } from './kafka-pods.ts'
import { type Pod, podsIn } from './list-pods-and-find-process.ts'
import type { Node } from './node.ts'
import { machineAddress } from './node-addresses-and-files.ts'
import { type JavaFiles, versionsOf } from './read-program-versions.ts'
import { openShell, repository, type Shell } from './shell.ts'

export const destinations = ['crm', 'warehouse'] as const
const slowLatencyMs = 300
/** The path of the chart in the Helm command of docs/how-to/deploy-on-kubernetes.md. */
const chart = 'deploy/helm/hookline'

export interface Values {
  readonly config: { readonly [key: string]: unknown; readonly destinations: readonly object[] }
  readonly [key: string]: unknown
}

/** A release of the chart on the cluster, with an endpoint on this machine. */
export interface Installation {
  readonly shell: Shell
  readonly directory: string
  readonly node: Node
  versions(): Promise<string>
  /** The commands and values of docs/how-to/deploy-on-kubernetes.md. */
  readonly page: DeployPage
  readonly ledger: Ledger
  readonly receiver: Receiver
  readonly partitions: number
  /** A URL that this machine reaches. */
  collectorUrl(): Promise<string>
  writeKey(): Promise<string>
  /**
   * Runs the `helm upgrade --install` of `page` with changed values, which later upgrades keep.
   * Resolves with the previous values.
   */
  upgrade(change: (values: Values) => Values, chart?: string): Promise<Values>
  /** Rolls back the last upgrade, including its changes of the values. */
  rollBack(): Promise<void>
  /** The pods of the services, without those that are being deleted. */
  pods(): Promise<readonly Pod[]>
  rolledOut(): Promise<void>
}

export interface Opened {
  readonly installation: Installation
  close(): Promise<void>
}

/**
 * Prepares everything except the chart: images, Kafka, registry, endpoint, and the values of
 * docs/how-to/deploy-on-kubernetes.md.
 */
export async function openInstallation(cluster: Cluster, directory: string): Promise<Opened> {
  const ledger = new Ledger()
  const receiver = await startReceiver(ledger, machineAddress)
  receiver.slow('warehouse', slowLatencyMs)
  const page = readDeployPage(await readFile(join(repository, 'docs/how-to/deploy-on-kubernetes.md'), 'utf8'))
  const { appVersion } = parse(await readFile(join(repository, 'deploy/helm/hookline/Chart.yaml'), 'utf8'))
  const shell = await openShell(directory, cluster)
  await importImages(cluster.node, cluster.pause, String(appVersion))
  const javaFiles = await startKafka(cluster, shell, join(directory, 'kafka'))
  let values = valuesFor(parse(page.values), receiver)
  let earlier = values
  const write = (): Promise<void> => writeFile(join(directory, 'values.yaml'), JSON.stringify(values))
  await write()
  const installation: Installation = {
    ...{ shell, directory, node: cluster.node, page, ledger, receiver, partitions: 12 },
    versions: () => versionsOf(shell, javaFiles),
    async collectorUrl() {
      const path = '{.spec.clusterIP}'
      return `http://${await shell(`kubectl --namespace hookline get service hookline-collector --output jsonpath='${path}'`)}`
    },
    async writeKey() {
      const path = '{.data.web-write-key}'
      const text = await shell(`kubectl --namespace hookline get secret hookline --output jsonpath='${path}'`)
      return Buffer.from(text, 'base64').toString()
    },
    async upgrade(change, from = chart) {
      const before = values
      values = change(values)
      await write()
      await shell(page.install.replace(chart, from)).catch(async error => {
        values = before
        await write()
        throw error
      })
      earlier = before
      return before
    },
    async rollBack() {
      await shell('helm --namespace hookline rollback hookline')
      values = earlier
      await write()
    },
    pods: () => podsIn(shell),
    rolledOut: async () => {
      const names = await shell('kubectl --namespace hookline get deployments --output name')
      for (const name of names.trim().split('\n'))
        await shell(`kubectl --namespace hookline rollout status ${name} --timeout=240s`)
    },
  }
  return { installation, close: () => receiver.close() }
}

async function startKafka({ plane }: Cluster, shell: Shell, data: string): Promise<JavaFiles> {
  const search = await findJava()
  if (search.kind === 'missing') throw new Error(`Kafka needs Java: ${search.why}`)
  const { java } = search
  const [jars, registry] = [await kafkaJars(java), await registryFiles()]
  const manifests = kafkaManifests({ java, jars, registry, data })
  for (const manifest of manifests) {
    const { status, body } = await plane.api.apply(manifest)
    if (status >= 300) throw new Error(`${manifest.kind} ${manifest.metadata.name}: ${body.message}`)
  }
  await shell('kubectl --namespace kafka rollout status deployment/kafka-bootstrap deployment/schema-registry')
  return { kafka: jars.directory, registry: registry.home }
}

/** The webhook of a destination. A header of each request has the name of the sending pod. */
export const webhooksOf = (receiver: Pick<Receiver, 'url'>, destination: string): readonly object[] => [
  { id: 'main', url: receiver.url(destination), headers: { [processHeader]: `\${HOSTNAME}` } },
]

function valuesFor(values: PageValues, receiver: Receiver): Values {
  const { config } = values
  const [destination] = config.destinations
  const endpoint = (id: string): object => ({ ...destination, id, webhooks: webhooksOf(receiver, id) })
  return {
    ...values,
    image: { repository: hooklineRepository },
    config: {
      ...config,
      topics: { replicationFactor: 1 },
      registry: { url: config.registry.url + registryPath },
      network: { allow: [`${machineAddress}/32`] },
      destinations: destinations.map(endpoint),
    },
  }
}

interface PageValues {
  readonly config: {
    readonly registry: { readonly url: string }
    readonly destinations: readonly object[]
    readonly [key: string]: unknown
  }
}
