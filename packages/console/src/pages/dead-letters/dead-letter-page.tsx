import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { withoutEmpty } from '../../api/query-parameters.ts'
import type { DeadLetterDetail } from '../../api/response-types.ts'
import { useData } from '../../api/use-data.ts'
import { Button } from '../../components/button.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { Facts } from '../../components/list-of-names-and-values.tsx'
import { LoadedData } from '../../components/loaded-data.tsx'
import { MessageLink } from '../../components/message-link.tsx'
import { Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { PreviewedRequests } from '../../components/previewed-requests.tsx'
import { TextBlock } from '../../components/text-block.tsx'
import { Time } from '../../components/time.tsx'
import { useCanOperate } from '../../session/session-context.ts'
import { bodyText } from './body-text.ts'
import { hasDestination } from './dead-letter-filters.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { ReplayProgressPanel } from './replay-progress-panel.tsx'

/** One dead letter. Only the role `operate` sees the headers and the body. */
export function DeadLetterPage({ id }: { readonly id: string }) {
  const canOperate = useCanOperate()
  const loaded = useData<DeadLetterDetail>(`/v1/dead-letters/${encodeURIComponent(id)}`)
  const [isAsking, setAsking] = useState(false)
  const [replay, setReplay] = useState<string>()
  const { data } = loaded
  const canReplay = canOperate && data?.messageId !== undefined
  return (
    <Page
      title="Dead letter"
      summary={<Link href="/dead-letters">All dead letters</Link>}
      actions={
        canReplay && (
          <Button kind="primary" onClick={() => setAsking(true)}>
            Replay…
          </Button>
        )
      }
    >
      <LoadedData loaded={loaded} what="the dead letter">
        {letter => (
          <div class="panels">
            {replay !== undefined && <ReplayProgressPanel id={replay} onProgress={() => undefined} />}
            <DeadLetterFacts letter={letter} />
            <RecordPanel letter={letter} canOperate={canOperate} />
            {letter.replay !== undefined && (
              <Panel title="Requests that a replay would send" isWide>
                <PreviewedRequests preview={letter.replay} />
              </Panel>
            )}
          </div>
        )}
      </LoadedData>
      {isAsking && data !== undefined && (
        <ReplayDialog
          // Without the filter by destination, the replay would include the dead letters of the
          // message at every destination.
          filters={withoutEmpty({ destination: data.destination, message: data.messageId })}
          onStarted={job => {
            setAsking(false)
            setReplay(job.id)
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Page>
  )
}

function DeadLetterFacts({ letter }: { readonly letter: DeadLetterDetail }) {
  const { key, at, destination, messageId, reason, outcome, sourceId, type, attempts, position } = letter
  return (
    <Panel title="Delivery" isWide>
      <Facts
        facts={[
          ['Dead-lettered', <Time at={at} />],
          ['Reason', <code>{reason}</code>],
          ['Last outcome', outcome && <code>{outcome}</code>],
          ['Attempts', attempts],
          ['Destination', hasDestination(destination) ? <DestinationLink id={destination} /> : undefined],
          ['Message', messageId && <MessageLink id={messageId} at={at} />],
          ['Source', sourceId && <span class="id">{sourceId}</span>],
          ['Message type', type],
          ['Key of the dead letter', <span class="id">{key}</span>],
          [
            'Position of the event in Kafka',
            position === undefined ? undefined : <span class="id">{bodyText(position)}</span>,
          ],
        ]}
      />
    </Panel>
  )
}

interface RecordPanelProps {
  readonly letter: DeadLetterDetail
  readonly canOperate: boolean
}

function RecordPanel({ letter, canOperate }: RecordPanelProps) {
  const headers = Object.entries(letter.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  return (
    <Panel title="Headers and body of the record" isWide>
      {canOperate ? (
        <>
          {headers.length > 0 && <TextBlock label="Headers" text={headers.join('\n')} />}
          {letter.body !== undefined && <TextBlock label="Body" text={bodyText(letter.body)} />}
          {letter.bodyBase64 !== undefined && <TextBlock label="Body in base64" text={letter.bodyBase64} />}
          {headers.length === 0 && letter.body === undefined && letter.bodyBase64 === undefined && (
            <p class="muted">The operator service sent neither headers nor a body.</p>
          )}
        </>
      ) : (
        <p class="muted">
          Headers and bodies contain data of users. To see them, sign in with a key that has the role "operate".
        </p>
      )}
    </Panel>
  )
}
