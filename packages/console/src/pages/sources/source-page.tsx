import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { sourcePath } from '../../api/object-path.ts'
import { pathWith } from '../../api/query-parameters.ts'
import type { ConfigObject } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { Button } from '../../components/button.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Page } from '../../components/page.tsx'
import { useCanOperate } from '../../session/session-context.ts'
import { DeleteDialog } from '../objects/delete-dialog.tsx'
import { ObjectSummary } from '../objects/object-summary.tsx'
import { ProblemsNotice } from '../objects/problems-notice.tsx'
import { SettingsPanel } from '../objects/settings-panel.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'

export function SourcePage({ id }: { readonly id: string }) {
  const loaded = useData<ConfigObject>(sourcePath(id), 10_000)
  const { data: source, reload } = loaded
  return (
    <Page
      title={id}
      summary={source && <ObjectSummary object={source} />}
      actions={source && <SourceActions source={source} onChanged={reload} />}
    >
      <LoadedData loaded={loaded} what="the source">
        {found => (
          <div class="panels">
            <ProblemsNotice object={found} />
            <SettingsPanel object={found} onChanged={reload} />
            <p>
              <Link href={pathWith('/destinations', { source: id })}>Show the destinations of this source</Link>
            </p>
          </div>
        )}
      </LoadedData>
    </Page>
  )
}

interface SourceActionsProps {
  readonly source: ConfigObject
  readonly onChanged: () => void
}

/** The buttons of a source; none if the configuration file defines the source. */
function SourceActions({ source, onChanged }: SourceActionsProps) {
  const canOperate = useCanOperate()
  const [open, setOpen] = useState<'rotate' | 'delete'>()
  if (!canOperate || source.origin === 'file') return null
  const close = (): void => setOpen(undefined)
  return (
    <>
      <Button onClick={() => setOpen('rotate')}>Rotate key</Button>
      <Button kind="danger" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'rotate' && <RotateKeyDialog source={source} onChanged={onChanged} onClose={close} />}
      {open === 'delete' && (
        <DeleteDialog object={source} onClose={close}>
          A source in use cannot be deleted: first remove it from each destination. Hookline deletes the source with its
          write keys, and rejects requests with these keys. You cannot undo the deletion.
        </DeleteDialog>
      )}
    </>
  )
}
