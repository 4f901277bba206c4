import type { Ledger } from '../chaos/message-ledger.ts'
import { installKeda, type Removal } from './install-autoscalers.ts'
import { type Installation, type Values, webhooksOf } from './installation.ts'
import { parseQuantity } from './kubernetes-quantity.ts'
import { followPods } from './pod-counts.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { inHookline, latestMs, podsOf, seconds, until, withLogs } from './scenario-steps.ts'

/** The destination whose slow responses cause the lag. */
const slow = 'slow'
/**
 * Response time of `slow`. With 60 messages per second, about 210 records wait for responses, and
 * up to 15 for a commit. All of these records count as lag.
 */
const slowLatencyMs = 3_500
const fastLatencyMs = 10
/**
 * The lag per pod above which KEDA adds pods: above the usual lag, and below half of the lag with
 * slow responses, so that KEDA adds two pods.
 */
const lagThreshold = 80
const maxReplicas = 3
/** Concurrent requests of a process. One dispatcher must be able to wait for all slow responses. */
const concurrency = 1_024
/** With the chart's settings, KEDA would wait five minutes, and remove a pod every two minutes. */
const scaleDown = {
  stabilizationWindowSeconds: 30,
  policies: [{ type: 'Pods', value: 1, periodSeconds: 30 }],
}
const object = 'scaledobject/hookline-dispatcher'

/**
 * Enables KEDA. Resolves with the previous values of the chart. Restores these values after an
 * error.
 */
export async function enableKeda(on: Installation): Promise<Values> {
  on.receiver.slow(slow, fastLatencyMs)
  const before = await on.upgrade(values => {
    const { config } = values
    const [first] = config.destinations
    const delivery = { maxInFlight: concurrency, perWebhook: concurrency, perHost: concurrency }
    return {
      ...values,
      keda: { enabled: true, minReplicas: 1, maxReplicas, lagThreshold },
      config: {
        ...config,
        delivery: { ...(config['delivery'] as object | undefined), ...delivery },
        destinations: [...config.destinations, { ...first, id: slow, webhooks: webhooksOf(on.receiver, slow) }],
      },
    }
  })
  try {
    await withLogs(on, 'keda', () => quickenScaledObject(on))
  } catch (error) {
    await on.upgrade(() => before)
    throw error
  }
  return before
}

/** Waits for the ScaledObject of the chart, and shortens the wait before KEDA removes a pod. */
async function quickenScaledObject({ rolledOut, shell }: Installation): Promise<void> {
  await rolledOut()
  await shell(`${inHookline} wait --for=condition=Ready ${object} --timeout=120s`)
  const patch = { spec: { advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown } } } } }
  await shell(`${inHookline} patch ${object} --type merge --patch '${JSON.stringify(patch)}'`)
}

async function scaleOnLag(on: Installation, before: Values): Promise<Done> {
  const begun = performance.now()
  const measured = await scaleUpAndDown(on).finally(async () => {
    // Helm removes the ScaledObject, and restores the number of pods in the values.
    await on.upgrade(() => before)
    await on.rolledOut()
  })
  const { length } = duplicatesIn(on.ledger, begun)
  return { measured, failures: length > 0 ? [`duplicates to ${slow}: ${length}`] : [] }
}

/** Makes responses slow until three dispatchers deliver, and then fast until one is left. */
async function scaleUpAndDown(on: Installation): Promise<readonly string[]> {
  const { receiver, ledger } = on
  const counts = followPods(on, 'dispatcher')
  await counts.reach(1)
  const lag = await lagOf(on)
  const measured = [`lag ${await lag()} with one dispatcher`]
  receiver.slow(slow, slowLatencyMs)
  const begun = performance.now()
  const up = await counts.reach(maxReplicas)
  measured.push(`${maxReplicas} dispatchers ${seconds(up)} after responses became slow, lag ${await lag()}`)
  const names = (await podsOf(on, 'dispatcher')).map(({ name }) => name)
  const active = (): ReadonlySet<string> =>
    new Set(ledger.deliveries.filter(({ at }) => at > begun).map(({ process }) => process))
  await until('all dispatchers deliver', () => names.every(name => active().has(name)))
  receiver.slow(slow, fastLatencyMs)
  const down = await counts.reach(1)
  measured.push(`1 dispatcher ${seconds(down)} after responses became fast again, lag ${await lag()}`)
  return [...measured, `ready dispatchers since the start of the measurement: ${counts.text()}`]
}

/** Reads the lag from the API of KEDA, as Kubernetes does. */
async function lagOf({ shell }: Installation): Promise<() => Promise<number>> {
  const name = await shell(`${inHookline} get ${object} --output jsonpath='{.status.externalMetricNames[0]}'`)
  const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/hookline/${name}`
  const selector = encodeURIComponent('scaledobject.keda.sh/name=hookline-dispatcher')
  return async () => {
    const { items } = JSON.parse(await shell(`kubectl get --raw '${path}?labelSelector=${selector}'`))
    return parseQuantity(items[0].value)
  }
}

function duplicatesIn(ledger: Ledger, from: number): readonly string[] {
  const accepted = ledger.deliveries.filter(({ destination, sent }) => destination === slow && sent.at >= from)
  const times = Map.groupBy(accepted, ({ sent }) => sent.id)
  return [...times].filter(([, { length }]) => length > 1).map(([id]) => id)
}

let removeKeda: Removal | undefined
let valuesBefore: Values | undefined

export const scaleOnLagScenario: Scenario = {
  name: 'scale-on-lag',
  shows: `KEDA scales the dispatchers on the lag: from 1 to ${maxReplicas} while a third destination responds after ${slowLatencyMs / 1_000} s, and back to 1 when it responds quickly; then an upgrade turns KEDA off`,
  limits: { restarts: 0, refused: 0, latestMs },
  async prepare(on) {
    removeKeda = await installKeda(on)
    valuesBefore = await enableKeda(on)
  },
  inject: on => withLogs(on, 'keda', () => scaleOnLag(on, valuesBefore as Values)),
  cleanUp: async () => removeKeda?.(),
}
