import { LiveSums } from '../../../src/core/live-status/live-sums.ts'
import type { StatusView } from '../../../src/services/live-status/status-view.ts'

/** The view of a status topic that no process has written to. */
export const noStatusView: StatusView = {
  sums: new LiveSums(),
  isCurrent: () => true,
  start: () => undefined,
  stop: async () => undefined,
}
