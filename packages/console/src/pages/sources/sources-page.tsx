import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { pathWith } from '../../api/query-parameters.ts'
import type { ConfigObject, PageOfSources } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Time } from '../../components/time.tsx'
import { useQuery } from '../../layout/use-address-query.ts'
import { useCanOperate } from '../../session/session-context.ts'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'

export function SourcesPage() {
  const canOperate = useCanOperate()
  const after = new URLSearchParams(useQuery()).get('after') ?? undefined
  const loaded = useData<PageOfSources>(pathWith('/v1/sources', { limit: 100, after }), 10_000)
  const [rotating, setRotating] = useState<ConfigObject>()
  return (
    <Page
      title="Sources"
      actions={
        canOperate && (
          <Link href="/new-source" class="button button-primary">
            Add a source
          </Link>
        )
      }
    >
      <div class="panel panel-wide">
        <LoadedData loaded={loaded} what="sources">
          {({ sources, next }) => (
            <>
              {sources.length === 0 ? (
                <EmptyState title="There are no sources.">A source is an application that sends events.</EmptyState>
              ) : (
                <SourceTable sources={sources} onRotate={canOperate ? setRotating : undefined} />
              )}
              <Pager path="/sources" query={{ after }} next={next} what="sources" />
            </>
          )}
        </LoadedData>
      </div>
      {rotating !== undefined && (
        <RotateKeyDialog source={rotating} onChanged={loaded.reload} onClose={() => setRotating(undefined)} />
      )}
    </Page>
  )
}

function SourceLink({ id }: { readonly id: string }) {
  return (
    <Link class="id" href={`/sources/${encodeURIComponent(id)}`}>
      {id}
    </Link>
  )
}

interface SourceTableProps {
  readonly sources: readonly ConfigObject[]
  /** Called to rotate the key of a source; `undefined` when the user may not rotate keys. */
  readonly onRotate: ((source: ConfigObject) => void) | undefined
}

function SourceTable({ sources, onRotate }: SourceTableProps) {
  return (
    <DataTable
      caption="Sources"
      rows={sources}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Source', cell: ({ id }) => <SourceLink id={id} /> },
        { title: 'State', cell: ({ state }) => <Badge state={state} /> },
        {
          title: 'Destinations',
          cell: ({ id }) => <Link href={pathWith('/destinations', { source: id })}>Show destinations</Link>,
        },
        {
          title: 'Changed',
          cell: row =>
            row.origin === 'file' ? 'not recorded (defined in the configuration file)' : <Time at={row.changedAt} />,
        },
        ...(onRotate === undefined
          ? []
          : [
              {
                title: 'Write key',
                cell: (row: ConfigObject) =>
                  row.origin === 'file' ? undefined : (
                    <Button label={`Rotate key of ${row.id}`} onClick={() => onRotate(row)}>
                      Rotate key
                    </Button>
                  ),
              },
            ]),
      ]}
    />
  )
}
