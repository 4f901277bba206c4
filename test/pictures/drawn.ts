import type { Clock } from '../../src/core/ports.ts'
import { durationMs } from '../../src/core/units.ts'
import type { PanelJson } from '../support/dashboards.ts'

/** What is to be seen of a panel: `look.mjs`. */
export interface PanelSeen {
  readonly id: number
  /** Its queries are under way. */
  readonly isLoading: boolean
  readonly hasFailed: boolean
  /** A canvas in it is not blank. */
  readonly isPainted: boolean
  /** Below its title. */
  readonly text: string
}

type Shown = Pick<PanelJson, 'id' | 'type' | 'title'>

const lookEvery = durationMs(500)
/** One after the other: what has just been drawn may be laid out once more, and its queries may be asked again. */
const enoughLooks = 3
/** A busy machine takes half a minute for thirty panels. */
const patience = durationMs(120_000)
/** What Grafana writes in the place of a graph. */
const withoutData = /^No data/

/** What is not as it is to be in a picture, panel by panel; none when all of them are drawn, with data or without. */
export function unfinished(panels: readonly Shown[], seen: readonly PanelSeen[]): readonly string[] {
  const byId = new Map(seen.map(panel => [panel.id, panel]))
  return panels.flatMap(panel => {
    const complaint = panel.type === 'row' ? undefined : complaintOf(panel, byId.get(panel.id))
    return complaint === undefined ? [] : [`${panel.title}: ${complaint}`]
  })
}

function complaintOf({ type }: Shown, seen: PanelSeen | undefined): string | undefined {
  if (seen === undefined) return 'is not there'
  if (seen.hasFailed) return 'shows an error'
  if (seen.isLoading) return 'is loading'
  // The legend of a graph may be there before the graph.
  const isDrawn = type === 'timeseries' ? seen.isPainted || withoutData.test(seen.text) : seen.text !== ''
  return isDrawn ? undefined : 'is blank'
}

/**
 * Resolves when all panels are drawn and stay so for a second.
 * @throws Error that names the panels that are not, two minutes after the start
 */
export async function untilDrawn(
  panels: readonly Shown[],
  look: () => Promise<readonly PanelSeen[]>,
  clock: Pick<Clock, 'after'>,
): Promise<void> {
  const late = Promise.withResolvers<'late'>()
  const cancel = clock.after(patience, () => late.resolve('late'))
  let complaints: readonly string[] = ['the page does not answer']
  let finished = 0
  try {
    for (;;) {
      // A page that has crashed never answers.
      const seen = await Promise.race([late.promise, look()])
      if (seen === 'late') throw new Error(overdue(complaints))
      complaints = unfinished(panels, seen)
      finished = complaints.length === 0 ? finished + 1 : 0
      if (finished === enoughLooks) return
      await new Promise<void>(resolve => clock.after(lookEvery, resolve))
    }
  } finally {
    cancel()
  }
}

function overdue(complaints: readonly string[]): string {
  const lines = complaints.length === 0 ? ['all panels are drawn, but do not stay so'] : complaints
  return [`not drawn after ${patience / 1_000} s:`, ...lines.map(line => `  ${line}`)].join('\n')
}
