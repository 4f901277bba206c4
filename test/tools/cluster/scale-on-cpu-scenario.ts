import { Agent } from 'node:http'
import { Ledger } from '../chaos/message-ledger.ts'
import { installMetricsServer, type Removal } from './install-autoscalers.ts'
import type { Installation, Values } from './installation.ts'
import { parseQuantity } from './kubernetes-quantity.ts'
import { startMessageLoad } from './message-load.ts'
import { followPods } from './pod-counts.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { inHookline, latestMs, podsOf, seconds, until, withLogs } from './scenario-steps.ts'

/** A second source without destinations. Its messages use the CPU of the collectors. */
const source = 'second'
const writeKey = '0a1b2c3d4e5f6789'.repeat(2)
const perSecond = 500
const maxReplicas = 3
/**
 * Share of the pod's CPU request above which the autoscaler adds a collector: the chart's default.
 */
const targetShare = 0.7
/**
 * The autoscaler adds a collector at the usual CPU use times this factor. The pods' CPU request is
 * set accordingly.
 */
const useOfOne = 1.2
/** Shortens the wait before a pod is removed. The default wait is five minutes. */
const behavior = { scaleDown: { stabilizationWindowSeconds: 15 } }
const autoscaler = 'hpa/hookline-collector'

let removeMetricsServer: Removal | undefined

async function prepare(on: Installation): Promise<void> {
  const secret = { stringData: { [`${source}-write-key`]: writeKey } }
  await on.shell(`${inHookline} patch secret hookline --patch '${JSON.stringify(secret)}'`)
  removeMetricsServer = await installMetricsServer(on)
}

async function scaleOnCpu(on: Installation): Promise<Done> {
  const used = await useOfCollectors(on, Date.now())
  const request = Math.ceil((used * useOfOne) / targetShare)
  const before = await enableAutoscaling(on, request)
  const ledger = new Ledger()
  const measured = await scaleUpAndDown(on, ledger).finally(async () => {
    await on.upgrade(() => before)
    await on.rolledOut()
  })
  const refused = ledger.posted.filter(({ answer }) => answer !== 200).length
  return {
    measured: [`both collectors used ${Math.round(used)}m CPU, so the request became ${request}m`, ...measured],
    failures: refused > 0 ? [`further messages without a 200: ${refused}`] : [],
  }
}

/**
 * Adds load until three collectors are ready, and then waits until one is left. `ledger` records
 * the additional messages.
 */
async function scaleUpAndDown(on: Installation, ledger: Ledger): Promise<readonly string[]> {
  const measured: string[] = []
  const counts = followPods(on, 'collector')
  await counts.reach(1)
  // A Service distributes connections, not requests. So the load must not reuse connections.
  const load = await startMessageLoad({ ...on, ledger, writeKey: async () => writeKey, agent: new Agent() }, perSecond)
  try {
    const up = await counts.reach(maxReplicas)
    measured.push(`${maxReplicas} collectors ${seconds(up)} after ${perSecond} further messages a second began`)
    measured.push(await utilization(on))
  } finally {
    await load.stop()
  }
  const down = await counts.reach(1)
  measured.push(`1 collector ${seconds(down)} after these messages ended`)
  return [...measured, `ready collectors since the start of the measurement: ${counts.text()}`]
}

/** Resolves with thousandths of a CPU. */
async function useOfCollectors(on: Installation, from: number): Promise<number> {
  const path = '/apis/metrics.k8s.io/v1beta1/namespaces/hookline/pods'
  const selector = encodeURIComponent('app.kubernetes.io/component=collector')
  const { length } = await podsOf(on, 'collector')
  let found: readonly PodMetrics[] = []
  await until('the metrics server has measured the collectors', async () => {
    const { items } = JSON.parse(await on.shell(`kubectl get --raw '${path}?labelSelector=${selector}'`))
    found = items.filter((each: PodMetrics) => begunAt(each) >= from)
    return found.length === length
  })
  return (
    found.flatMap(({ containers }) => containers).reduce((sum, { usage }) => sum + parseQuantity(usage.cpu), 0) * 1_000
  )
}

interface PodMetrics {
  readonly timestamp: string
  /** Length of the measurement: `15.123s`. */
  readonly window: string
  readonly containers: readonly { readonly usage: { readonly cpu: string } }[]
}

const begunAt = ({ timestamp, window }: PodMetrics): number => Date.parse(timestamp) - Number.parseFloat(window) * 1_000

/** Resolves with the previous values of the chart. */
async function enableAutoscaling(on: Installation, request: number): Promise<Values> {
  const before = await on.upgrade(values => {
    const { config } = values
    const services = (values['services'] ?? {}) as Record<string, object>
    const further = { id: source, writeKeyFile: `../secrets/${source}-write-key` }
    const collector = {
      ...services['collector'],
      resources: { requests: { cpu: `${request}m` } },
      autoscaling: { enabled: true, minReplicas: 1, maxReplicas },
    }
    return {
      ...values,
      services: { ...services, collector },
      config: { ...config, sources: [...(config['sources'] as readonly object[]), further] },
    }
  })
  await on.shell(`${inHookline} patch ${autoscaler} --patch '${JSON.stringify({ spec: { behavior } })}'`)
  await on.rolledOut()
  return before
}

async function utilization({ shell }: Installation): Promise<string> {
  const path = '{.status.currentMetrics[0].resource.current.averageUtilization}'
  return `CPU use then ${await shell(`${inHookline} get ${autoscaler} --output jsonpath='${path}'`)} % of the request`
}

export const scaleOnCpuScenario: Scenario = {
  name: 'scale-on-cpu',
  shows: `Kubernetes scales the collectors on their CPU use: from 1 to ${maxReplicas} while a second source sends ${perSecond} messages a second on new connections, and back to 1 when it stops; then an upgrade turns autoscaling off`,
  limits: { restarts: 0, refused: 0, latestMs },
  prepare,
  inject: on => withLogs(on, 'kube-system', () => scaleOnCpu(on)),
  cleanUp: async () => removeMetricsServer?.(),
}
