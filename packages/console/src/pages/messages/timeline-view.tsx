import type { MessageTimeline } from '../../api/response-types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { Facts } from '../../components/list-of-names-and-values.tsx'
import { Panel } from '../../components/panel.tsx'
import { Time } from '../../components/time.tsx'
import { DestinationTimeline } from './destination-timeline.tsx'
import { LogRecordsPanel } from './log-records-panel.tsx'

/** The event of a message, its records, and what happened at each destination. */
export function TimelineView({ timeline }: { readonly timeline: MessageTimeline }) {
  const { event, eventRemoved, searchedSince, destinations, records, partial } = timeline
  return (
    <div class="panels">
      {partial === true && (
        <PartialNotice>
          The search is incomplete, so this page may not show all records and attempts. In "Received", choose the
          shortest time span that includes the event.
        </PartialNotice>
      )}
      <Panel title="Event" isWide>
        {event === undefined ? (
          <EmptyState title="The event was not found.">
            {eventRemoved === true
              ? 'Kafka has deleted the event from the events topic, because the event is older than the retention time of the topic.'
              : 'Either no event has this id, or the event was received outside the searched time span, or Kafka has deleted the event because it is older than the retention time of the events topic.'}
          </EmptyState>
        ) : (
          <Facts
            facts={[
              ['Source', <span class="id">{event.sourceId}</span>],
              ['Type', event.type],
              ['Event', event.event],
              ['Received', <Time at={event.receivedAt} />],
            ]}
          />
        )}
        {searchedSince !== undefined && (
          <p class="muted">
            The search covers messages received since <Time at={searchedSince} />.
          </p>
        )}
      </Panel>
      {destinations.length === 0 && (
        <div class="panel panel-wide">
          <EmptyState title="The search found no delivery of this message." />
        </div>
      )}
      {destinations.map(destination => (
        <DestinationTimeline key={destination.id} destination={destination} />
      ))}
      <LogRecordsPanel records={records} />
    </div>
  )
}
