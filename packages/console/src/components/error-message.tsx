import type { ApiError } from '../api/api-error.ts'
import { ProblemList } from './problem-list.tsx'

export interface ErrorMessageProps {
  readonly error: ApiError
  /**
   * The entries of the requested list, for example `replays`. A 404 for a list means that the
   * operator service is too old: it does not have the path.
   */
  readonly listOf?: string | undefined
}

/** Shows why a request was refused, with all its problems. */
export function ErrorMessage({ error, listOf }: ErrorMessageProps) {
  const text =
    listOf !== undefined && error.status === 404
      ? `The operator service has no API for ${listOf}: the service is older than this page, or a proxy does not forward the request. Update the service, or correct the proxy.`
      : error.message
  return (
    <div class="error" role="alert">
      <p>{text}</p>
      {error.problems.length > 0 && <ProblemList problems={error.problems} />}
    </div>
  )
}
