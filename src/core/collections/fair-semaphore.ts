import { LinkedList, type LinkedListItem } from './linked-list.ts'
import { PriorityQueue } from './priority-queue.ts'

/** A caller that needs a permit for one operation. It can wait for only one permit at a time. */
export interface PermitRequest extends LinkedListItem<PermitRequest> {
  /** The group of the caller, for example the source for which the caller works. */
  readonly group: string
  /** The work of the operation in any unit, more than 0. For example, the bytes to process. */
  readonly cost: number
  /** Called when the operation may begin. It may be called before `acquire` returns. */
  begin(): void
}

/** The callers of one group that wait. */
interface Group {
  readonly name: string
  readonly requests: LinkedList<PermitRequest>
  /**
   * The virtual time (see `FairSemaphore`) at which the group began to wait or got its last permit.
   */
  start: number
  /** `start` plus the cost of the first request. */
  finish: number
  /** Orders groups with the same `finish`: the group that got this `finish` first has priority. */
  order: number
  position: number
}

/**
 * Limits how many operations run concurrently, and divides the permits among groups of callers.
 * Groups that always have a waiting caller get permits for the same total cost. So a group with
 * many or expensive operations does not delay other groups. In a group, callers get permits in the
 * order of their calls.
 *
 * The method is self-clocked fair queueing. The next permit goes to the group with the lowest
 * `finish`, and the virtual time becomes this `finish`. A group that begins to wait starts at the
 * virtual time, so the time in which it did not wait gives it no advantage. The virtual time grows
 * with each permit, so later groups get a higher `finish`, and a continuous flow of new groups
 * cannot keep a group waiting.
 */
export class FairSemaphore {
  /** The number of permits that no caller has. */
  #free: number
  #virtualTime = 0
  #placed = 0
  readonly #waiting = new Map<string, Group>()
  readonly #byFinish = new PriorityQueue<Group>(
    (one, other) => one.finish < other.finish || (one.finish === other.finish && one.order < other.order),
  )

  constructor(permits: number) {
    this.#free = permits
  }

  /**
   * Calls `begin` of the request when a permit is free. The caller must then call `release` when
   * the operation has ended.
   */
  acquire(request: PermitRequest): void {
    if (this.#free > 0) {
      this.#free -= 1
      return request.begin()
    }
    const group = this.#waiting.get(request.group)
    if (group === undefined) this.#addGroup(request)
    else group.requests.add(request)
  }

  release(): void {
    const next = this.#byFinish.first
    const [request] = next?.requests ?? []
    if (next === undefined || request === undefined) {
      this.#free += 1
      return
    }
    this.#virtualTime = next.finish
    next.start = next.finish
    this.leave(request)
    request.begin()
  }

  /** Removes a request that still waits. Its `begin` is then never called. */
  leave(request: PermitRequest): void {
    const group = this.#waiting.get(request.group)
    if (group === undefined) return
    const [before] = group.requests
    group.requests.remove(request)
    if (request !== before) return
    this.#byFinish.remove(group)
    const [first] = group.requests
    if (first === undefined) this.#waiting.delete(group.name)
    else this.#place(group, first)
  }

  #addGroup(request: PermitRequest): void {
    const requests = new LinkedList<PermitRequest>()
    requests.add(request)
    const group = { name: request.group, requests, start: this.#virtualTime, finish: 0, order: 0, position: 0 }
    this.#waiting.set(group.name, group)
    this.#place(group, request)
  }

  #place(group: Group, first: PermitRequest): void {
    group.finish = group.start + first.cost
    group.order = this.#placed++
    this.#byFinish.add(group)
  }
}
