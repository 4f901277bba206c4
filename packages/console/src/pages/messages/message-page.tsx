import { pathWith } from '../../api/query-parameters.ts'
import type { MessageTimeline } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Page } from '../../components/page.tsx'
import { useQuery } from '../../layout/use-address-query.ts'
import { MessageSearch } from './message-search-form.tsx'
import { spanOf } from './search-time-span.ts'
import { TimelineView } from './timeline-view.tsx'

/** The page of one message or, without an id, the search for a message. */
export function MessagePage({ id }: { readonly id: string | undefined }) {
  const span = spanOf(useQuery())
  const path = id === undefined ? undefined : pathWith(`/v1/messages/${encodeURIComponent(id)}`, { ...span })
  const loaded = useData<MessageTimeline>(path, 10_000)
  return (
    <Page title={id === undefined ? 'Messages' : `Message ${id}`}>
      <MessageSearch key={`${span.since} ${span.until}`} id={id ?? ''} span={span} />
      {id === undefined ? (
        <EmptyState title="Enter the id of a message.">
          For this message, the page shows its state at each destination and its recorded attempts.
        </EmptyState>
      ) : (
        <LoadedData loaded={loaded} what="the message">
          {timeline => <TimelineView timeline={timeline} />}
        </LoadedData>
      )}
    </Page>
  )
}
