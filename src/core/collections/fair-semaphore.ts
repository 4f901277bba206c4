import { FairQueue, type FairQueueItem } from './fair-queue.ts'

/** A caller that needs a permit for one operation. It can wait for only one permit at a time. */
export interface PermitRequest extends FairQueueItem<PermitRequest> {
  /** Called when the operation may begin. It may be called before `acquire` returns. */
  begin(): void
}

/**
 * Limits how many operations run concurrently, and divides the permits fairly among groups of
 * callers (see `FairQueue`).
 */
export class FairSemaphore {
  /** The number of permits that no caller has. */
  #free: number
  readonly #waiting = new FairQueue<PermitRequest>()

  constructor(permits: number) {
    this.#free = permits
  }

  /**
   * Calls `request.begin` when a permit is free. The caller must call `release` when the operation
   * has ended.
   */
  acquire(request: PermitRequest): void {
    if (this.#free === 0) return this.#waiting.add(request)
    this.#free -= 1
    request.begin()
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next.begin()
  }

  /** Removes a request that still waits. Its `begin` is then never called. */
  cancel(request: PermitRequest): void {
    this.#waiting.remove(request)
  }
}
