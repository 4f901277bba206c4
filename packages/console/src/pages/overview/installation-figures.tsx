import type { InstallationStatus } from '../../api/types.ts'
import { Figures } from '../../components/figures.tsx'
import { countText, rateText } from '../../components/number-text.ts'

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

/** The rates and the backlog of the installation in one row. */
export function InstallationFigures({ status }: { readonly status: InstallationStatus }) {
  const { rates, groups, waiting, openBreakers, openBreakerCount = openBreakers?.length ?? 0 } = status
  const lag = sum(groups.flatMap(({ topics }) => topics.map(topic => topic.lag)))
  const rate = (value: number | undefined) => (value === undefined ? undefined : rateText(value))
  return (
    <Figures
      figures={[
        { name: 'New deliveries', value: rate(rates?.admittedPerSecond), unit: '/s' },
        { name: 'Delivered', value: rate(rates?.deliveredPerSecond), unit: '/s' },
        {
          ...{ name: 'Failed attempts', value: rate(rates?.failedPerSecond), unit: '/s' },
          tone: (rates?.failedPerSecond ?? 0) > 0 ? 'bad' : undefined,
        },
        { name: 'Lag', value: countText(lag), unit: 'records' },
        { name: 'Deliveries waiting in retry topics', value: countText(sum(waiting.map(({ records }) => records))) },
        {
          ...{ name: 'Open circuit breakers', value: openBreakers && countText(openBreakerCount) },
          tone: openBreakerCount > 0 ? 'bad' : undefined,
        },
      ]}
    />
  )
}
