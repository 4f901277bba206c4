import { Link } from 'wouter-preact'
import { type InstallationStatus, objectStates } from '../../api/response-types.ts'
import { Badge } from '../../components/badge.tsx'
import { countText } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'

/** The number of destinations by state, and the number of sources. */
export function ObjectsPanel({ status }: { readonly status: InstallationStatus }) {
  const { destinations, sources } = status
  return (
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
  )
}
