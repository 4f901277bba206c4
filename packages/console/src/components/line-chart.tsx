import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

const height = 220

export interface LineChartProps {
  /**
   * The name for screen readers. Screen readers skip the lines, so the page must also show the
   * values as text or a table.
   */
  readonly label: string
  /** In epoch seconds. */
  readonly times: readonly number[]
  /** Each line has a value for every time. */
  readonly lines: readonly ChartLine[]
  readonly timeText: (time: number) => string
  readonly valueText: (value: number) => string
  /** The first and the last time shown. Default: those of `times`. */
  readonly span?: (times: readonly number[]) => [number, number]
}

interface ChartLine {
  readonly label: string
  /** The CSS custom property with the colour. */
  readonly colour: `--chart-${string}`
  readonly values: readonly number[]
}

export function LineChart(props: LineChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>()
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const draw = (): void => {
      chart.current?.destroy()
      chart.current = new UPlot(optionsFor(element, latest.current), dataOf(latest.current), element)
    }
    const resized = new ResizeObserver(() => chart.current?.setSize({ width: element.clientWidth, height }))
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    draw()
    resized.observe(element)
    scheme.addEventListener('change', draw)
    return () => {
      scheme.removeEventListener('change', draw)
      resized.disconnect()
      chart.current?.destroy()
      chart.current = undefined
    }
  }, [])
  useEffect(() => {
    if (chart.current === undefined) return
    chart.current.setData(dataOf(latest.current))
    showNewest(chart.current)
  }, [props.times])
  return <div ref={frame} class="chart" role="img" aria-label={props.label} />
}

const dataOf = ({ times, lines }: LineChartProps): UPlot.AlignedData => [
  [...times],
  ...lines.map(({ values }) => [...values]),
]

/** Without a pointer over the chart, the legend shows the newest values. */
function showNewest(chart: UPlot): void {
  if ((chart.cursor.left ?? -1) < 0) chart.setLegend({ idx: chart.data[0].length - 1 })
}

/**
 * Returns the options of the chart. Colours come from the computed style, because style sheets do
 * not apply inside a canvas.
 */
function optionsFor(element: HTMLElement, { lines, timeText, valueText, span }: LineChartProps): UPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(name)
  const axis = {
    stroke: colour('--chart-text'),
    grid: { stroke: colour('--grid'), width: 1 },
    ticks: { stroke: colour('--grid'), width: 1 },
  }
  const shown = (text: (value: number) => string) => (_: UPlot, value: number | null) =>
    value === null ? '–' : text(value)
  return {
    width: element.clientWidth,
    height,
    hooks: { ready: [showNewest] },
    axes: [
      { ...axis, space: 90, values: (_, times) => times.map(timeText) },
      { ...axis, size: 64 },
    ],
    scales: {
      x: span === undefined ? {} : { range: ({ data: [times] }) => span([...times]) },
      y: { range: (_, _min, max) => [0, Math.max(1, max * 1.1)] },
    },
    series: [
      { label: 'Time', value: shown(timeText) },
      ...lines.map(line => ({ label: line.label, stroke: colour(line.colour), width: 2, value: shown(valueText) })),
    ],
  }
}
