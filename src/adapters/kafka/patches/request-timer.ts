import { internal } from '../internals.ts'

interface SentRequest {
  /** Milliseconds since 1970. */
  readonly sentAt: number
  /** Milliseconds. */
  readonly requestTimeout: number
  timeoutRequest(): void
}

interface RequestQueue {
  readonly enforceRequestTimeout: boolean
  readonly requestTimeout: number
  /** By correlation id, which counts up; in the order in which they were sent. */
  readonly inflight: ReadonlyMap<number, SentRequest>
  requestTimeoutIntervalId?: NodeJS.Timeout
  isConnected(): boolean
  destroy(): void
  fulfillRequest(answer: { readonly correlationId: number }): void
  scheduleRequestTimeoutCheck(): void
}

const lookEveryMs = 100
/** However well those before it get on: for so many of its time-outs a request waits in all, so that the leader is looked up again. */
const longestWait = 3

/** When the broker could begin with the first one in flight, as far as its answers tell. */
const turns = new WeakMap<RequestQueue, number>()

/**
 * A broker works at the requests of one connection one after the other. kafkajs counts the time that a request waits there for those before it
 * as if it were not answered: of 240 that a new topic's partitions get at once, at 50 ms each, the last are given up and sent again, and the
 * broker stores them twice. Here the time begins when what was before it is answered.
 *
 * kafkajs looks for overdue requests on every connection, and that interval alone keeps a process alive that has nothing left to do. Where a
 * process is to stay, its connections see to it.
 */
export function cureRequestTimer(): void {
  const { prototype } = internal<{ prototype: RequestQueue }>('network/requestQueue')
  const fulfill = prototype.fulfillRequest

  prototype.fulfillRequest = function (this: RequestQueue, answer): void {
    const [first] = this.inflight.keys()
    // An answer to a later one means that this one's is lost: its time goes on.
    if (first !== undefined && answer.correlationId <= first) turns.set(this, Date.now())
    fulfill.call(this, answer)
  }

  prototype.scheduleRequestTimeoutCheck = function (this: RequestQueue): void {
    if (!this.enforceRequestTimeout) return
    this.destroy()
    const look = (): void => {
      giveUpOverdue(this)
      if (!this.isConnected()) this.destroy()
    }
    this.requestTimeoutIntervalId = setInterval(look, Math.min(this.requestTimeout, lookEveryMs)).unref()
  }
}

function giveUpOverdue(queue: RequestQueue): void {
  const now = Date.now()
  const turn = turns.get(queue) ?? 0
  for (const request of queue.inflight.values()) {
    const { sentAt, requestTimeout } = request
    const isOverdue = now - Math.max(sentAt, turn) > requestTimeout || now - sentAt > longestWait * requestTimeout
    if (isOverdue) request.timeoutRequest()
  }
}
