import { LineChart } from '../../components/line-chart.tsx'
import { type RateHistory, timesShown } from './rate-history.ts'

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/**
 * New deliveries, successful deliveries and failed attempts per second. The figures above the chart
 * have the current values as text.
 */
export function RateChart({ history }: { readonly history: RateHistory }) {
  return (
    <LineChart
      label="Chart of deliveries and failed attempts per second since you opened this page (at most 30 minutes)"
      times={history.times}
      lines={[
        { label: 'New deliveries', colour: '--chart-admitted', values: history.admitted },
        { label: 'Delivered', colour: '--chart-delivered', values: history.delivered },
        { label: 'Failed attempts', colour: '--chart-failed', values: history.failed },
      ]}
      timeText={time => clock.format(time * 1000)}
      valueText={value => value.toFixed(1)}
      span={timesShown}
    />
  )
}
