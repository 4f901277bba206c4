import { shown } from '../report.ts'
import { box, document, round, rule, text } from './svg-elements.ts'

/* Two sorts of plots, as much as three plots need. */

export interface Bar {
  readonly label: string
  readonly value: number
  /** Who it is of: told apart by colour. */
  readonly of: keyof typeof colours
}

export interface BarPlot {
  readonly title: string
  readonly groups: readonly { readonly title: string; readonly bars: readonly Bar[] }[]
  /** What each colour is; for those who read. */
  readonly legend: Readonly<Partial<Record<keyof typeof colours, string>>>
}

export interface LinePlot {
  readonly title: string
  readonly panels: readonly { readonly title: string; readonly points: readonly Point[] }[]
  /** A line across all panels. */
  readonly limit: { readonly value: number; readonly label: string }
}

export interface Point {
  readonly label: string
  readonly value: number
}

const colours = { hookline: '#0b6e4f', beside: '#8a93a0', elsewhere: '#ccd2da' } as const
const width = 800
const line = 20

/** Groups of horizontal bars on one scale, each with its figure. */
export function barPlot({ title, groups, legend }: BarPlot): string {
  const left = 250
  const largest = Math.max(1, ...groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const drawn: string[] = []
  let top = 52
  for (const [of, meaning] of Object.entries(legend) as [keyof typeof colours, string][]) {
    drawn.push(box(12, top - 10, 12, 12, colours[of]), text(30, top, meaning))
    top += line
  }
  for (const group of groups) {
    top += line
    drawn.push(text(12, top, group.title, 'group'))
    for (const { label, value, of } of group.bars) {
      top += line
      const length = (value / largest) * (width - left - 80)
      drawn.push(
        text(left - 8, top, label, 'label'),
        box(left, top - 12, length, 14, colours[of]),
        text(left + length + 6, top, shown(value)),
      )
    }
    top += line / 2
  }
  return document(title, { width, height: top + line / 2 }, drawn)
}

/** Panels side by side: points in their order, each a step of the same width, from 0 on one scale. */
export function linePlot({ title, panels, limit }: LinePlot): string {
  const [top, bottom, panelWidth] = [76, 240, (width - 24) / Math.max(1, panels.length)]
  const largest = Math.max(limit.value, ...panels.flatMap(({ points }) => points.map(({ value }) => value))) * 1.1
  const y = (value: number): number => bottom - (value / largest) * (bottom - top)
  const drawn = panels.flatMap((panel, index) => {
    const [from, to] = [12 + index * panelWidth, 12 + (index + 1) * panelWidth - 16]
    const x = (at: number): number => from + ((at + 0.5) * (to - from)) / Math.max(1, panel.points.length)
    const places = panel.points.map(({ value }, at) => `${round(x(at))},${round(y(value))}`).join(' ')
    return [
      text(from, 56, panel.points.length > 0 ? panel.title : `${panel.title}: not measured`, 'group'),
      rule(from, to, bottom, '#8a93a0'),
      rule(from, to, y(limit.value), '#c0392b', '4 3'),
      `<polyline points="${places}" fill="none" stroke="${colours.hookline}" stroke-width="2"/>`,
      ...panel.points.flatMap(({ label, value }, at) => [
        `<circle cx="${round(x(at))}" cy="${round(y(value))}" r="3.5" fill="${colours.hookline}"/>`,
        text(x(at), y(value) + 18, shown(value), 'middle'),
        text(x(at), bottom + 16, label, 'middle'),
      ]),
    ]
  })
  return document(title, { width, height: bottom + 52 }, [
    ...drawn,
    rule(12, 36, bottom + 34, '#c0392b', '4 3'),
    text(42, bottom + 38, limit.label),
  ])
}
