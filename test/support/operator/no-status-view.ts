import { LiveSums } from '../../../src/core/live-status/status-sums-of-all-processes.ts'
import type { StatusView } from '../../../src/services/live-status/status-view.ts'

/** A view of the status topic without records. */
export const noStatusView: StatusView = {
  sums: new LiveSums(),
  isCurrent: () => true,
  start: () => undefined,
  stop: async () => undefined,
}
