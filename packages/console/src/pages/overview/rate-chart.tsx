import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { type RateHistory, timesShown } from './rate-history.ts'

const height = 220

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const clockText = (time: number): string => clock.format(time * 1000)

/**
 * A chart of new deliveries, successful deliveries and failed attempts per second. The figures
 * above it have the current values as text.
 */
export function RateChart({ history }: { readonly history: RateHistory }) {
  const frame = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot>()
  const data = [history.times, history.admitted, history.delivered, history.failed].map(list => [...list])
  const latest = useRef(data)
  latest.current = data
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const draw = (): void => {
      chart.current?.destroy()
      chart.current = new UPlot(optionsFor(element), latest.current as UPlot.AlignedData, element)
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
    chart.current?.setData(latest.current as UPlot.AlignedData)
    // Without a pointer over the chart, the legend shows the newest values.
    if ((chart.current?.cursor.left ?? -1) < 0) chart.current?.setLegend({ idx: history.times.length - 1 })
  }, [history])
  return (
    <div
      ref={frame}
      class="chart"
      role="img"
      aria-label="Chart of deliveries and failed attempts per second since this page was opened"
    />
  )
}

/**
 * The options of the chart. They contain the colours of the style sheet, because style sheets do
 * not apply inside a canvas.
 */
function optionsFor(element: HTMLElement): UPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(name)
  const axis = {
    stroke: colour('--chart-text'),
    grid: { stroke: colour('--grid'), width: 1 },
    ticks: { stroke: colour('--grid'), width: 1 },
  }
  const rate = { value: (_: UPlot, value: number | null) => (value === null ? '–' : value.toFixed(1)), width: 2 }
  return {
    width: element.clientWidth,
    height,
    axes: [
      { ...axis, space: 90, values: (_, times) => times.map(clockText) },
      { ...axis, size: 64 },
    ],
    scales: {
      x: { range: ({ data: [times] }) => timesShown([...times]) },
      y: { range: (_, _min, max) => [0, Math.max(1, max * 1.1)] },
    },
    series: [
      { label: 'Time', value: (_, time: number | null) => (time === null ? '–' : clockText(time)) },
      { ...rate, label: 'New deliveries', stroke: colour('--chart-admitted') },
      { ...rate, label: 'Delivered', stroke: colour('--chart-delivered') },
      { ...rate, label: 'Failed attempts', stroke: colour('--chart-failed') },
    ],
  }
}
