import { Route, Router, Switch, useLocation } from 'wouter-preact'
import { ErrorBoundary } from './components/error-boundary.tsx'
import { consoleBase, restOfAddress } from './layout/console-path.ts'
import { Layout } from './layout/layout.tsx'
import { AudiencesPage } from './pages/audiences/audiences-page.tsx'
import { ChangesPage } from './pages/changes/changes-page.tsx'
import { DeadLetterPage } from './pages/dead-letters/dead-letter-page.tsx'
import { DeadLettersPage } from './pages/dead-letters/dead-letters-page.tsx'
import { DestinationPage } from './pages/destination/destination-page.tsx'
import { DestinationsPage } from './pages/destinations/destinations-page.tsx'
import { JobPage } from './pages/jobs/job-page.tsx'
import { JobsPage } from './pages/jobs/jobs-page.tsx'
import { MessagePage } from './pages/messages/message-page.tsx'
import { NewDestinationPage } from './pages/new-destination/new-destination-page.tsx'
import { NewSourcePage } from './pages/new-source/new-source-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { OverviewPage } from './pages/overview/overview-page.tsx'
import { ResendPage } from './pages/resend/resend-page.tsx'
import { SourcePage } from './pages/sources/source-page.tsx'
import { SourcesPage } from './pages/sources/sources-page.tsx'
import { SessionGate } from './session/session-gate.tsx'

/** The root component of the console. */
export function Console() {
  return (
    <Router base={consoleBase}>
      <SessionGate>
        <Layout>
          <CurrentPage />
        </Layout>
      </SessionGate>
    </Router>
  )
}

/** Shows the page of the current address. A new `key` removes the error of the previous page. */
function CurrentPage() {
  const [path] = useLocation()
  return (
    <ErrorBoundary key={path}>
      <Pages />
    </ErrorBoundary>
  )
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={OverviewPage} />
      <Route path="/destinations" component={DestinationsPage} />
      <Route path="/new-destination" component={NewDestinationPage} />
      <Route path="/destinations/:id">{({ id }) => <DestinationPage key={id} id={id} />}</Route>
      <Route path="/messages">
        <MessagePage id={undefined} />
      </Route>
      <Route path="/messages/*">
        {() => {
          const id = restOfAddress(location.pathname, '/messages')
          return <MessagePage key={id} id={id} />
        }}
      </Route>
      <Route path="/dead-letters" component={DeadLettersPage} />
      <Route path="/dead-letters/*">
        {() => {
          const id = restOfAddress(location.pathname, '/dead-letters')
          return <DeadLetterPage key={id} id={id} />
        }}
      </Route>
      <Route path="/resend" component={ResendPage} />
      <Route path="/jobs" component={JobsPage} />
      <Route path="/jobs/:list/:id">{({ list, id }) => <JobPage key={id} list={list} id={id} />}</Route>
      <Route path="/audiences" component={AudiencesPage} />
      <Route path="/sources" component={SourcesPage} />
      <Route path="/new-source" component={NewSourcePage} />
      <Route path="/sources/:id">{({ id }) => <SourcePage key={id} id={id} />}</Route>
      <Route path="/changes" component={ChangesPage} />
      <Route component={NotFoundPage} />
    </Switch>
  )
}
