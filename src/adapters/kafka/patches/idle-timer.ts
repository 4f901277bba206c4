import { internal } from '../internals.ts'

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

/**
 * After every answer kafkajs sets a timer to look at its queue again, with a negative delay when the broker does not throttle: some 900
 * rounds a second on each idle connection (tulios/kafkajs#1704), and a warning of Node. Nothing pending: nothing to look at.
 */
export function cureIdleTimer(): void {
  const { prototype } = internal<{ prototype: RequestQueue }>('network/requestQueue')
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this)
  }
}
