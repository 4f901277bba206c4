import { useMemo } from 'preact/hooks'
import type { Ledger } from '../../api/ledger-types.ts'
import { useData } from '../../api/use-data.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { LineChart } from '../../components/line-chart.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { countText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import { type HourOfResults, hourlyResults } from './hourly-results.ts'

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

const columns: readonly Column<HourOfResults>[] = [
  { title: 'Start of the hour', cell: ({ hour }) => <Time at={hour} /> },
  { title: 'Delivered', isNumber: true, cell: ({ delivered }) => countText(delivered) },
  { title: 'Dead-lettered', isNumber: true, cell: ({ deadLettered }) => countText(deadLettered) },
  { title: 'Dropped', isNumber: true, cell: ({ dropped }) => countText(dropped) },
  { title: 'Waiting in retry topics', isNumber: true, cell: ({ waiting }) => countText(waiting) },
]

/** The results of each of the last 24 hours, as a chart and as a table. */
export function HourlyResultsPanel({ id }: { readonly id: string }) {
  const loaded = useData<Ledger>(`/v1/ledger?destination=${encodeURIComponent(id)}`, 60_000)
  return (
    <Panel title="Results by hour" isWide>
      <LoadedData loaded={loaded} what="the results by hour" isList>
        {ledger => <HourlyResults ledger={ledger} />}
      </LoadedData>
    </Panel>
  )
}

function HourlyResults({ ledger }: { readonly ledger: Ledger }) {
  const hours = useMemo(() => hourlyResults(ledger), [ledger])
  const times = useMemo(() => hours.map(({ hour }) => Date.parse(hour) / 1000), [hours])
  const { partial, exactSince, rows } = ledger
  return (
    <>
      {partial === true && (
        <PartialNotice>
          The operator service could not read all numbers, so the numbers below may be too low.
        </PartialNotice>
      )}
      {exactSince !== undefined && (
        <p class="muted">
          The numbers of the hours before <Time at={exactSince} /> are incomplete.
        </p>
      )}
      {rows.length === 0 && partial !== true && (
        <EmptyState title="Hookline counted no deliveries to this destination in the last 24 hours.">
          A delivery counts in the hour in which Hookline received its event.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <LineChart
            label="Chart of the results of each of the last 24 hours; the table below has the numbers"
            times={times}
            lines={[
              { label: 'Delivered', colour: '--chart-delivered', values: hours.map(({ delivered }) => delivered) },
              {
                label: 'Dead-lettered',
                colour: '--chart-failed',
                values: hours.map(({ deadLettered }) => deadLettered),
              },
              { label: 'Dropped', colour: '--chart-admitted', values: hours.map(({ dropped }) => dropped) },
            ]}
            timeText={time => clock.format(time * 1000)}
            valueText={countText}
          />
          <details>
            <summary>The numbers as a table</summary>
            <DataTable
              caption="Results by hour, newest first"
              columns={columns}
              rows={hours.toReversed()}
              keyOf={({ hour }) => hour}
            />
          </details>
        </>
      )}
    </>
  )
}
