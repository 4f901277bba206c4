import { useState } from 'preact/hooks'
import type { Replay } from '../../api/job-types.ts'
import { pathWith } from '../../api/query-parameters.ts'
import type { PageOfDeadLetters as Answer, DeadLetterFilters } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useQuery } from '../../layout/use-address-query.ts'
import { useCanOperate } from '../../session/session-context.ts'
import { DeadLetterFilterForm } from './dead-letter-filter-form.tsx'
import { filtersOf } from './dead-letter-filters.ts'
import { emptyTitle, partialText } from './dead-letter-list-texts.ts'
import { DeadLetterTable } from './dead-letter-table.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { ReplayProgressPanel } from './replay-progress-panel.tsx'

/** Dead letters per page. */
const limit = 100

/** The dead letters of the installation, newest first, and their replay. */
export function DeadLettersPage() {
  const canOperate = useCanOperate()
  const query = useQuery()
  const filters = filtersOf(query)
  const after = new URLSearchParams(query).get('after') ?? undefined
  const loaded = useData<Answer>(pathWith('/v1/dead-letters', { limit, ...filters, after }), 10_000)
  /**
   * The filters of the open dialog. The filters in the address can change while the dialog is open.
   */
  const [asked, setAsked] = useState<DeadLetterFilters>()
  const [replay, setReplay] = useState<string>()
  const start = (job: Replay): void => {
    setAsked(undefined)
    setReplay(job.id)
  }
  const hasLetters = (loaded.data?.deadLetters.length ?? 0) > 0
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page
      title="Dead letters"
      actions={
        canOperate &&
        hasLetters && (
          <Button kind="primary" onClick={() => setAsked(filters)}>
            {isFiltered ? 'Replay all matching dead letters…' : 'Replay all…'}
          </Button>
        )
      }
    >
      <DeadLetterFilterForm key={query} filters={filters} />
      {replay !== undefined && <ReplayProgressPanel id={replay} onProgress={loaded.reload} />}
      <div class="panel panel-wide">
        <LoadedData loaded={loaded} what="dead letters" isList>
          {({ deadLetters, next, partial }) => (
            <>
              {partial === true && (next !== undefined || deadLetters.length > 0) && (
                <PartialNotice>{partialText(next !== undefined && deadLetters.length < limit)}</PartialNotice>
              )}
              {deadLetters.length > 0 ? (
                <DeadLetterTable letters={deadLetters} />
              ) : (
                <EmptyState title={emptyTitle(isFiltered, next !== undefined)} />
              )}
              <Pager path="/dead-letters" query={{ ...filters, after }} next={next} what="dead letters" />
            </>
          )}
        </LoadedData>
      </div>
      {asked !== undefined && <ReplayDialog filters={asked} onStarted={start} onClose={() => setAsked(undefined)} />}
    </Page>
  )
}
