import type { InstallationStatus } from '../../api/response-types.ts'
import { countText, rateText } from '../../components/number-text.ts'
import { Figures } from '../../components/row-of-key-figures.tsx'

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

export function InstallationFigures({ status }: { readonly status: InstallationStatus }) {
  const { rates, groups, waiting, partial, openBreakers, openBreakerCount = openBreakers?.length ?? 0 } = status
  // Show only the lag of the events topic: retry topics also have records that are not due.
  const lag = groups.flatMap(({ topics }) => topics).find(({ topic }) => topic.endsWith('.events'))?.lag
  const isWaitingUnknown = partial === true && waiting.length === 0
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
        { name: 'Lag', value: lag === undefined ? undefined : countText(lag), unit: 'events' },
        {
          name: 'Deliveries waiting in retry topics',
          value: isWaitingUnknown ? undefined : countText(sum(waiting.map(({ records }) => records))),
        },
        {
          ...{ name: 'Open circuit breakers', value: openBreakers && countText(openBreakerCount) },
          tone: openBreakerCount > 0 ? 'bad' : undefined,
        },
      ]}
    />
  )
}
