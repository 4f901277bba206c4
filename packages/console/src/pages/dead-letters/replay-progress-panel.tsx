import { useEffect } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { Replay } from '../../api/job-types.ts'
import { useData } from '../../api/use-data.ts'
import { LoadedData } from '../../components/loaded-data.tsx'
import { Panel } from '../../components/panel.tsx'
import { JobProgress } from '../jobs/job-progress.tsx'

export interface ReplayProgressPanelProps {
  readonly id: string
  /** Called when the state or the number of replayed dead letters has changed. */
  readonly onProgress: () => void
}

/** The progress of the replay that was started on this page. */
export function ReplayProgressPanel({ id, onProgress }: ReplayProgressPanelProps) {
  const loaded = useData<Replay>(`/v1/replays/${encodeURIComponent(id)}`, 2000)
  const { data } = loaded
  useEffect(() => {
    if (data !== undefined) onProgress()
  }, [data?.state, data?.progress?.replayed])
  return (
    <Panel title="Replay" isWide actions={<Link href={`/jobs/replays/${encodeURIComponent(id)}`}>Show the job</Link>}>
      <LoadedData loaded={loaded} what="the replay">
        {job => <JobProgress job={job} />}
      </LoadedData>
    </Panel>
  )
}
