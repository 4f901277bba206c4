import { setTimeout as delay } from 'node:timers/promises'
import { peakMb } from '../bench/process-usage.ts'
import type { Fleet, Member } from './fleet.ts'

export interface ReadinessPoll {
  readonly collector: string
  readonly at: number
  readonly isReady: boolean
}

/** What the collectors showed, except while a fault was stopping them. */
export interface CollectorsSeen {
  readonly looks: readonly ReadinessPoll[]
  /** Maximum resident memory of each process, in MB. */
  readonly peakMb: ReadonlyMap<string, number>
}

export interface CollectorWatch {
  /** The collectors that were ready at the last poll. If none was, all running collectors. */
  open(): readonly Member[]
  stop(): Promise<CollectorsSeen>
}

const lookEveryMs = 250

/** Polls the readiness of each collector, and reads its peak memory from the kernel. */
export function watchCollectors(collectors: Fleet): CollectorWatch {
  const looks: ReadinessPoll[] = []
  const peaks = new Map<string, number>()
  const unready = new Set<Member>()
  let isEnded = false

  async function look(member: Member): Promise<void> {
    const { name, service } = member
    // A collector that does not respond is not ready.
    const status = await service.ask('/readyz').then(
      answer => answer.status,
      () => undefined,
    )
    if (status === 200) unready.delete(member)
    else unready.add(member)
    // A collector that is being stopped does not count.
    if (status === undefined || !collectors.members().includes(member)) return
    looks.push({ collector: name, at: performance.now(), isReady: status === 200 })
    try {
      peaks.set(name, peakMb(service.pid))
    } catch {
      // The process has just ended. Another check judges its exit code.
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
