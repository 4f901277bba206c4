import { type AnyJob, isActive } from '../../api/job-types.ts'
import { Badge } from '../../components/badge.tsx'
import { progressText, readProgressOf } from './job-texts-and-order.ts'

export function JobProgress({ job }: { readonly job: AnyJob }) {
  const { done, total } = readProgressOf(job)
  return (
    <div class="job-progress">
      <p role="status">
        <Badge state={job.state} /> {progressText(job)}
      </p>
      {total !== undefined && <progress max={Math.max(1, total)} value={done} aria-label="Progress" />}
      {total === undefined && isActive(job) && <progress aria-label="Progress" />}
      {job.cancelRequested === true && isActive(job) && (
        <p>Cancellation requested. The process that runs this job stops it soon.</p>
      )}
      {job.error !== undefined && (
        <p class="error">{isActive(job) ? `Hookline tries the job again after this error: ${job.error}` : job.error}</p>
      )}
    </div>
  )
}
