import { FairQueue, type FairQueueItem } from '../../core/collections/fair-queue.ts'
import { maxWorkPerCall } from '../../core/message/normalise-batch.ts'
import type { Clock } from '../../core/ports.ts'

/**
 * Waits for the next turn of a source. In a turn, one request of the source does a part of its
 * work. `work` is the size of the turn in characters of text. The default is a usual turn, which
 * takes some milliseconds.
 */
export type NextTurn = (sourceId: string | undefined, work?: number) => Promise<void>

export interface FairTurns {
  readonly next: NextTurn
  /**
   * Waits until the caller may do `work` (at most a usual turn). Returns `undefined` if the caller
   * may start now.
   */
  short(sourceId: string | undefined, work: number): Promise<void> | undefined
}

interface WaitingCaller extends FairQueueItem<WaitingCaller> {
  resolve(): void
}

/** The minimum cost of a request, in characters. */
const minCost = 1_024

const costOf = (work: number): number => Math.max(work, minCost)

/**
 * The group of requests with an unknown source. Together they get one source's share. No source has
 * an empty id.
 */
const unknownSource = ''

/**
 * Divides the collector's CPU time among the sources
 * (docs/decisions/0030-scan-request-bodies-before-parsing.md). Each tick (iteration of the event
 * loop) has at most one turn (`next`). It also has short work (`short`), in total at most as much
 * as a usual turn. Waiting sources get equal shares, measured in characters of text.
 */
export function createFairTurns(clock: Pick<Clock, 'soon'>): FairTurns {
  const turns = new FairQueue<WaitingCaller>()
  const shortWork = new FairQueue<WaitingCaller>()
  let isScheduled = false
  /** The cost of the short work of the current tick. */
  let shortWorkCost = 0

  const fits = (cost: number): boolean => shortWorkCost + cost <= maxWorkPerCall

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    clock.soon(() => {
      isScheduled = false
      shortWorkCost = 0
      turns.shift()?.resolve()
      for (let first = shortWork.first; first !== undefined && fits(first.cost); first = shortWork.first) {
        shortWork.shift()
        shortWorkCost += first.cost
        first.resolve()
      }
      if (turns.first !== undefined || shortWorkCost > 0) schedule()
    })
  }

  const waitIn = (queue: FairQueue<WaitingCaller>, group: string, cost: number): Promise<void> =>
    new Promise(resolve => {
      queue.add({ group, cost, resolve, before: undefined, after: undefined })
      schedule()
    })

  return {
    next: (sourceId = unknownSource, work = maxWorkPerCall) => waitIn(turns, sourceId, costOf(work)),
    short(sourceId = unknownSource, work) {
      const cost = costOf(work)
      if (shortWork.first !== undefined || !fits(cost)) return waitIn(shortWork, sourceId, cost)
      shortWorkCost += cost
      schedule()
      return undefined
    },
  }
}
