import { internal } from '../internals.ts'

interface RequestQueue {
  readonly requestTimeoutIntervalId?: NodeJS.Timeout
  scheduleRequestTimeoutCheck(): void
}

/**
 * kafkajs looks for overdue requests ten times a second on every connection, and that interval alone keeps a process alive that has nothing
 * left to do. Where a process is to stay, its connections see to it.
 */
export function cureRequestTimer(): void {
  const { prototype } = internal<{ prototype: RequestQueue }>('network/requestQueue')
  const schedule = prototype.scheduleRequestTimeoutCheck
  prototype.scheduleRequestTimeoutCheck = function (this: RequestQueue): void {
    schedule.call(this)
    this.requestTimeoutIntervalId?.unref()
  }
}
