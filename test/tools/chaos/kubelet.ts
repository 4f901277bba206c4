import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet, Member } from './fleet.ts'

/** Settings of the probes, as in deploy/helm/hookline/templates/deployments.yaml. */
export interface Probes {
  readonly periodMs: number
  readonly failureThreshold: number
  readonly timeoutMs: number
}
export const livenessProbe: Probes = { periodMs: 10_000, failureThreshold: 3, timeoutMs: 5_000 }
/** As in the Helm chart, but more frequent, to measure how long a process is not ready. */
export const readinessProbe: Omit<Probes, 'failureThreshold'> = { periodMs: 1_000, timeoutMs: 2_000 }

export interface ProbesSeen {
  /** Restarted processes, each with the response that caused the restart. */
  readonly restarts: readonly string[]
  readonly longestUnreadyMs: number
  /** Processes that were not ready at the end, each with its last response. */
  readonly unready: readonly string[]
}

/**
 * How long a process may be unready, in ms. When it joins a group, it may have to wait until the
 * session of a killed member ends.
 */
const usualUnreadyMs = 15_000

export function failuresOfProbes(
  { restarts, longestUnreadyMs, unready }: ProbesSeen,
  { patience, unreadyMs = usualUnreadyMs }: { readonly patience: number; readonly unreadyMs?: number | undefined },
): readonly string[] {
  const limit = unreadyMs * patience
  return [
    ...restarts.map(restart => `restarted by its liveness probe: ${restart}`),
    ...(longestUnreadyMs > limit ? [`a process was not ready for ${longestUnreadyMs} ms, limit ${limit} ms`] : []),
    ...unready.map(each => `not ready at the end: ${each}`),
  ]
}

export interface Kubelet {
  stop(): Promise<ProbesSeen>
}

/**
 * Polls `/livez` and `/readyz` as a kubelet does. After `failureThreshold` liveness failures in a
 * row, replaces the process.
 */
export function startKubelet(fleets: readonly Fleet[], probes: Probes = livenessProbe): Kubelet {
  const restarts: string[] = []
  const failures = new Map<Member, number>()
  const unreadySince = new Map<Member, number>()
  const wasReady = new Set<Member>()
  let longestUnreadyMs = 0
  const end = new AbortController()

  async function probe(
    { service }: Member,
    path: string,
    timeoutMs = readinessProbe.timeoutMs,
  ): Promise<string | undefined> {
    const answer = service.ask(path).then(
      ({ status, text }) => (status === 200 ? undefined : `${status} ${text.trim()}`),
      (error: Error) => error.message,
    )
    return Promise.race([answer, delay(timeoutMs, 'no answer in time', { ref: false })])
  }

  async function checkLiveness(fleet: Fleet, member: Member): Promise<void> {
    const failure = await probe(member, '/livez', probes.timeoutMs)
    // Do not restart a process that a fault is stopping.
    if (failure === undefined || !fleet.members().includes(member)) {
      failures.delete(member)
      return
    }
    const count = (failures.get(member) ?? 0) + 1
    failures.set(member, count)
    if (count < probes.failureThreshold) return
    failures.delete(member)
    restarts.push(`${member.name}: ${failure}`)
    await fleet.stop(member)
    await fleet.start()
  }

  async function checkReadiness(fleet: Fleet, member: Member): Promise<void> {
    const isReady = (await probe(member, '/readyz')) === undefined
    const now = performance.now()
    if (isReady) {
      wasReady.add(member)
      unreadySince.delete(member)
    } else if (wasReady.has(member) && fleet.members().includes(member)) {
      const since = unreadySince.get(member) ?? now
      unreadySince.set(member, since)
      longestUnreadyMs = Math.max(longestUnreadyMs, now - since)
    }
  }

  /**
   * Resolves with the last response if the probe fails `failureThreshold` times in a row, otherwise
   * with undefined.
   */
  async function readinessFailure(member: Member): Promise<string | undefined> {
    let failure: string | undefined
    for (let left = probes.failureThreshold; left > 0; left--) {
      failure = await probe(member, '/readyz')
      if (failure === undefined) return undefined
      await delay(Math.min(readinessProbe.periodMs, probes.periodMs))
    }
    return failure
  }

  async function unreadyNow(): Promise<readonly string[]> {
    const members = fleets.flatMap(fleet => fleet.members())
    const failed = await Promise.all(members.map(readinessFailure))
    return members.flatMap(({ name }, index) => (failed[index] === undefined ? [] : [`${name}: ${failed[index]}`]))
  }

  async function repeat(everyMs: number, check: (fleet: Fleet, member: Member) => Promise<void>): Promise<void> {
    while (!end.signal.aborted) {
      await Promise.all(fleets.flatMap(fleet => fleet.members().map(member => check(fleet, member))))
      await delay(everyMs, undefined, { signal: end.signal }).catch(() => undefined)
    }
  }

  const over = Promise.all([repeat(probes.periodMs, checkLiveness), repeat(readinessProbe.periodMs, checkReadiness)])
  return {
    async stop() {
      end.abort()
      await over
      return { restarts, longestUnreadyMs: Math.round(longestUnreadyMs), unready: await unreadyNow() }
    },
  }
}
