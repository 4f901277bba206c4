import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { Clock } from '../../core/ports.ts'

const { maxCoalesced } = flowLimits.dispatch

/**
 * Collects items, and passes them to `notify` at the end of the tick. This is cheaper than one call
 * for each item (docs/decisions/0043-hot-path-rules.md).
 */
export function coalesce<Item>(
  clock: Pick<Clock, 'soon'>,
  notify: (items: readonly Item[]) => void,
): (item: Item) => void {
  let items: Item[] = []
  let isDue = false

  function notifyNow(): void {
    const coalesced = items
    items = []
    notify(coalesced)
  }

  return item => {
    if (items.push(item) >= maxCoalesced) return notifyNow()
    if (isDue) return
    isDue = true
    clock.soon(() => {
      isDue = false
      notifyNow()
    })
  }
}
