import { Link } from 'wouter-preact'
import { type InstallationStatus, objectStates } from '../../api/response-types.ts'
import { Badge } from '../../components/badge.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { PartialNotice } from '../../components/incomplete-data-notice.tsx'
import { countText, shareText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { ProblemList } from '../../components/problem-list.tsx'

/** The number of destinations by state, and the destinations and sources with problems. */
export function ObjectsPanel({ status }: { readonly status: InstallationStatus }) {
  const { destinations, sources, problems, problemCount } = status
  const share = shareText(problems, problemCount)
  return (
    <>
      <Panel title="Destinations and sources">
        <ul class="counts">
          {objectStates.map(state => (
            <li key={state}>
              <Link href={`/destinations?state=${state}`}>
                <Badge state={state} />
                <span class="count">{countText(destinations[state] ?? 0)}</span>
              </Link>
            </li>
          ))}
        </ul>
        <p class="muted">
          <Link href="/sources">{countText(sources.enabled)} sources</Link> in use
          {sources.excluded > 0 && `, ${countText(sources.excluded)} not used because of problems`}.
        </p>
      </Panel>
      <Panel title="Problems of the configuration">
        {share !== undefined && (
          <PartialNotice>{`The list shows only ${share} destinations and sources with problems.`}</PartialNotice>
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
    </>
  )
}
