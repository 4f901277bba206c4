import { readdir, readFile } from 'node:fs/promises'
import type { Shell } from './shell.ts'

export interface Pod {
  readonly name: string
  /** `collector`, `dispatcher`, `audiences` or `operator`. */
  readonly service: string
  readonly isReady: boolean
  readonly restarts: number
  /** Why the container ended before its last restart (`OOMKilled`), and when, in ms since 1970. */
  readonly lastEnd: { readonly reason: string; readonly at: number } | undefined
}

const selector = 'app.kubernetes.io/name=hookline,app.kubernetes.io/component!=prepare'

/** Returns the pods of the services, except pods that are being deleted. */
export async function podsIn(shell: Shell): Promise<readonly Pod[]> {
  const text = await shell(`kubectl --namespace hookline get pods --selector '${selector}' --output json`)
  return parsePods(text)
}

export function parsePods(text: string): readonly Pod[] {
  const { items } = JSON.parse(text) as { readonly items: readonly Item[] }
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata, status }) => {
      const container = status.containerStatuses?.[0]
      return {
        name: metadata.name,
        service: metadata.labels['app.kubernetes.io/component'] ?? '',
        isReady: container?.ready ?? false,
        restarts: container?.restartCount ?? 0,
        lastEnd: endOf(container?.lastState?.terminated),
      }
    })
}

interface Terminated {
  readonly reason: string
  readonly finishedAt: string
}

const endOf = (end: Terminated | undefined) => end && { reason: end.reason, at: Date.parse(end.finishedAt) }

interface Item {
  readonly metadata: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
  }
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly ready: boolean
      readonly restartCount: number
      readonly lastState?: { readonly terminated?: Terminated }
    }[]
  }
}

export function restartsBetween(before: readonly Pod[], after: readonly Pod[]): number {
  const known = new Map(before.map(({ name, restarts }) => [name, restarts]))
  return after.reduce((sum, { name, restarts }) => sum + restarts - (known.get(name) ?? 0), 0)
}

/**
 * Finds the process of Hookline whose environment has the name of the pod.
 * @throws when this machine has none
 */
export async function processOf(pod: string): Promise<number> {
  for (const id of await readdir('/proc')) {
    if (!/^\d+$/.test(id)) continue
    const [environment, command] = await Promise.all(
      ['environ', 'cmdline'].map(file => readFile(`/proc/${id}/${file}`, 'utf8').catch(() => '')),
    )
    if (environment!.split('\0').includes(`HOSTNAME=${pod}`) && command!.includes('/bin/hookline')) return Number(id)
  }
  throw new Error(`pod ${pod} has no process of Hookline on this machine`)
}
