import type { InstallationStatus } from '../../api/response-types.ts'
import { DestinationLink } from '../../components/destination-link.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { partOfTotalText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { ProblemList } from '../../components/problem-list.tsx'

/** The destinations and sources with problems. */
export function ObjectProblemsPanel({ status }: { readonly status: InstallationStatus }) {
  const { problems, problemCount } = status
  const partOfTotal = partOfTotalText(problems, problemCount)
  return (
    <Panel title="Problems of the configuration">
      {partOfTotal !== undefined && (
        <PartialNotice>{`The list shows only ${partOfTotal} destinations and sources with problems.`}</PartialNotice>
      )}
      {problems.length === 0 ? (
        <p class="muted">No destination and no source has a problem.</p>
      ) : (
        <ul class="object-problems">
          {problems.map(({ kind, id, conflict, problems: found }) => (
            <li key={`${kind} ${id}`}>
              {kind === 'destination' ? <DestinationLink id={id} /> : <span class="id">{id}</span>}
              <span class="muted"> {kind}</span>
              {conflict && (
                <p>
                  This {kind} is defined twice: in the configuration file and through the operator API. Hookline uses
                  the definition in the file. To use the definition of the operator API, remove the {kind} from the
                  file.
                </p>
              )}
              {found.length > 0 && <ProblemList problems={found} />}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
