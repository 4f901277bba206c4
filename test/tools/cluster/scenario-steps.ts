import { reached } from '../chaos/poll-until-reached.ts'
import type { Installation, Values } from './installation.ts'
import type { Pod } from './list-pods-and-find-process.ts'

export const inHookline = 'kubectl --namespace hookline'
const podPatienceMs = 120_000
/**
 * Maximum time from the acknowledgement of a message to its delivery, except in an outage of Kafka.
 */
export const latestMs = 20_000

/**
 * Waits for a condition. Resolves with the ms that it took. @throws with `what` after `patienceMs`
 */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  patienceMs = podPatienceMs,
  everyMs = 250,
) {
  const begun = performance.now()
  if (!(await reached(condition, { everyMs, patienceMs }))) throw new Error(`not within ${patienceMs} ms: ${what}`)
  return performance.now() - begun
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

/** The pods of a service. @throws when the service has no pod */
export async function podsOf({ pods }: Installation, service: string): Promise<readonly [Pod, ...Pod[]]> {
  const [first, ...others] = (await pods()).filter(pod => pod.service === service)
  if (first === undefined) throw new Error(`${service} has no pod`)
  return [first, ...others]
}

export const addressOf = ({ shell }: Installation, pod: string): Promise<string> =>
  shell(`${inHookline} get pod ${pod} --output jsonpath='{.status.podIP}'`)

export const settingOf =
  (key: string, value: unknown) =>
  (values: Values): Values => ({ ...values, [key]: value })

export const configOf =
  (change: (config: Values['config']) => Values['config']) =>
  (values: Values): Values => ({ ...values, config: change(values.config) })

/** The services that run with the values of docs/how-to/deploy-on-kubernetes.md. */
export const services = ['collector', 'dispatcher', 'audiences']

/**
 * Runs a step. If the step fails, its error also shows the state of the autoscalers and the end of
 * each log in `namespace`.
 */
export async function withLogs<T>(
  { shell }: Pick<Installation, 'shell'>,
  namespace: string,
  step: () => Promise<T>,
): Promise<T> {
  return step().catch(async (error: Error) => {
    const state = await shell(
      `kubectl get pods,hpa --all-namespaces --output wide; kubectl describe hpa --all-namespaces | tail --lines 60
kubectl get apiservices | grep metrics; kubectl get events --namespace ${namespace} | tail --lines 15
for pod in $(kubectl get pods --namespace ${namespace} --output name); do kubectl logs --namespace ${namespace} $pod --tail 15 || true; done`,
    ).catch(String)
    throw new Error(`${error.message}\n${state}`, { cause: error })
  })
}
