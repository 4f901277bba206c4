import { setTimeout as delay } from 'node:timers/promises'
import { peakMb } from '../bench/process-figures.ts'
import type { Fleet, Member } from './fleet.ts'

/** What a collector said when it was asked whether it is ready. */
export interface ConfigSnapshot {
  readonly collector: string
  readonly at: number
  readonly isReady: boolean
}

/** What was seen of the collectors from outside, while nobody was ending them. */
export interface CollectorsSeen {
  readonly looks: readonly ConfigSnapshot[]
  /** The most that each life of each process had resident, in MB. */
  readonly peakMb: ReadonlyMap<string, number>
}

export interface CollectorWatch {
  /** Where a load balancer sends: to those that were ready at the last look, or, when none was, to all that run. */
  open(): readonly Member[]
  stop(): Promise<CollectorsSeen>
}

const lookEveryMs = 250

/** Asks each collector again and again, as a load balancer does. The memory is the kernel's own high-water mark: nothing between two looks is missed. */
export function watchCollectors(collectors: Fleet): CollectorWatch {
  const looks: ConfigSnapshot[] = []
  const peaks = new Map<string, number>()
  const unready = new Set<Member>()
  let isEnded = false

  async function look(member: Member): Promise<void> {
    const { name, service } = member
    // Whoever does not answer is not ready, and goes or has gone.
    const status = await service.ask('/readyz').then(
      answer => answer.status,
      () => undefined,
    )
    if (status === 200) unready.delete(member)
    else unready.add(member)
    // What one says that is being ended is its own affair.
    if (status === undefined || !collectors.members().includes(member)) return
    looks.push({ collector: name, at: performance.now(), isReady: status === 200 })
    try {
      peaks.set(name, peakMb(service.pid))
    } catch {
      // It has ended in this moment; its exit code will be asked for.
    }
  }

  const over = (async () => {
    while (!isEnded) {
      await Promise.all(collectors.running().map(look))
      await delay(lookEveryMs)
    }
  })()
  return {
    open() {
      const running = collectors.running()
      const ready = running.filter(each => !unready.has(each))
      return ready.length > 0 ? ready : running
    },
    async stop() {
      isEnded = true
      await over
      return { looks, peakMb: peaks }
    },
  }
}
