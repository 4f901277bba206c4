import type { InstallationStatus } from '../../api/response-types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { countText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { ShareBar } from '../../components/stacked-bar.tsx'

/** The backlog: the waiting records of each retry topic, and the lag of each consumer group. */
export function BacklogPanels({ status }: { readonly status: InstallationStatus }) {
  const total = Math.max(1, ...status.waiting.map(({ records }) => records))
  const lags = status.groups.flatMap(({ group, topics }) => topics.map(each => ({ group, ...each })))
  return (
    <>
      <Panel title="Deliveries waiting in retry topics">
        {status.waiting.length === 0 ? (
          <p class="muted">
            {status.partial === true
              ? 'The operator service could not read the retry topics.'
              : 'There are no retry topics.'}
          </p>
        ) : (
          <DataTable
            caption="Deliveries that wait in each retry topic"
            rows={status.waiting}
            keyOf={({ tier }) => tier}
            columns={[
              { title: 'Wait before the retry', cell: ({ tier }) => <code>{tier}</code> },
              { title: 'Deliveries', isNumber: true, cell: ({ records }) => countText(records) },
              {
                title: 'Compared with the highest number',
                cell: ({ records }) => (
                  <ShareBar
                    shares={[
                      { name: 'records', count: records, tone: 'warn' },
                      { name: 'rest', count: total - records, tone: 'plain' },
                    ]}
                  />
                ),
              },
            ]}
          />
        )}
      </Panel>
      <Panel title="Lag by consumer group">
        {lags.length === 0 ? (
          <p class="muted">
            {status.partial === true
              ? 'The operator service could not read the lag.'
              : 'No consumer group has committed an offset.'}
          </p>
        ) : (
          <DataTable
            caption="Number of unprocessed records by consumer group and topic"
            rows={lags}
            keyOf={({ group, topic }) => `${group} ${topic}`}
            columns={[
              { title: 'Group', cell: ({ group }) => <code>{group}</code> },
              { title: 'Topic', cell: ({ topic }) => <code>{topic}</code> },
              { title: 'Lag', isNumber: true, cell: ({ lag }) => countText(lag) },
            ]}
          />
        )}
      </Panel>
    </>
  )
}
