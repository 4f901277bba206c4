import { setTimeout as delay } from 'node:timers/promises'
import type { Installation } from './installation.ts'
import type { Done } from './run-scenario.ts'

/** Drains the node. Fails if a service had no ready pod, or if no eviction was refused. */
export async function drain(on: Installation, services: readonly string[]): Promise<Done> {
  const fewest = new Map<string, number>()
  let isOver = false
  const watch = (async () => {
    while (!isOver) {
      const ready = (await on.pods()).filter(({ isReady }) => isReady)
      for (const service of services) {
        const count = ready.filter(pod => pod.service === service).length
        fewest.set(service, Math.min(fewest.get(service) ?? count, count))
      }
      await delay(500)
    }
  })()
  watch.catch(() => undefined)
  // The cluster has no other node for replacements, so the disruption budget must keep the second
  // pod of each service.
  const selector = `--pod-selector 'app.kubernetes.io/component in (${services.join()})'`
  const evicted = await on
    .shell(`kubectl drain node ${selector} --delete-emptydir-data --timeout=60s 2>&1 || true`)
    .finally(() => {
      isOver = true
      return on.shell('kubectl uncordon node')
    })
  await watch
  await on.rolledOut()
  const count = new Set(evicted.match(/evicting pod \S+/g)).size
  const gone = [...fewest].filter(([, ready]) => ready === 0).map(([service]) => `${service} had no ready pod`)
  const isRefused = evicted.includes('violate the pod')
  return {
    measured: [`${count} pods to evict; at least ${Math.min(...fewest.values())} pod of each service stayed ready`],
    failures: [...gone, ...(isRefused ? [] : ['the disruption budget refused no eviction'])],
  }
}
