import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock } from '../../core/ports.ts'

const { maxCoalesced } = flowLimits.dispatch

/**
 * Coalesces notifications: all items of one tick of the event loop are passed to one call of `notify`,
 * which costs less than one call each (docs/decisions/0043-hot-path-rules.md). It is called early after
 * `maxCoalesced` items.
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
