import { Link } from 'wouter-preact'
import type { Attempt, MessageDestination } from '../../api/response-types.ts'
import { Badge } from '../../components/badge.tsx'
import { DestinationLink } from '../../components/destination-link.tsx'
import { Time } from '../../components/time.tsx'
import { durationText } from '../../components/time-text-and-input-values.ts'
import { hasDestination } from '../dead-letters/dead-letter-filters.ts'
import { reasonText } from './state-reason-text.ts'

/**
 * Shows the attempts at one destination, then the retry topic in which the delivery waits, or a
 * link to the dead letter.
 */
export function DestinationTimeline({ destination }: { readonly destination: MessageDestination }) {
  const { id, state, attempts, waiting, deadLetterKey } = destination
  const explanation = reasonText(destination)
  return (
    <section class="panel panel-wide" aria-label={`Destination ${id}`}>
      <header class="panel-header">
        <h2>{hasDestination(id) ? <DestinationLink id={id} /> : 'No destination known'}</h2>
        <Badge state={state} />
      </header>
      {explanation !== undefined && <p class="muted">{explanation}</p>}
      <ol class="timeline">
        {attempts.map(attempt => (
          <AttemptEntry key={`${attempt.at} ${attempt.webhook} ${attempt.number}`} attempt={attempt} />
        ))}
        {waiting !== undefined && (
          <li class="entry entry-busy">
            <span class="entry-time">{waiting.dueAt === undefined ? 'now' : <Time at={waiting.dueAt} />}</span>
            <span>
              Waits in the retry topic <code>{waiting.tier}</code>
              {waiting.dueAt !== undefined && '; the next attempt is due at the time shown'}.
            </span>
          </li>
        )}
        {deadLetterKey !== undefined && (
          <li class="entry entry-bad">
            <span class="entry-time" />
            <span>
              Dead-lettered:{' '}
              <Link href={`/dead-letters/${encodeURIComponent(deadLetterKey)}`}>show the dead letter</Link>
            </span>
          </li>
        )}
      </ol>
      {attempts.length === 0 && explanation === undefined && (
        <p class="muted">There is no record of an attempt. By default, a successful first attempt is not recorded.</p>
      )}
    </section>
  )
}

function AttemptEntry({ attempt }: { readonly attempt: Attempt }) {
  const { at, number, outcome, status, durationMs, decision, reason, webhook } = attempt
  return (
    <li class={outcome === 'delivered' ? 'entry entry-ok' : 'entry entry-warn'}>
      <span class="entry-time">
        <Time at={at} />
      </span>
      <span>
        {number !== undefined && <strong>Attempt {number}: </strong>}
        <code>{outcome}</code>
        {status !== undefined && `, status ${status}`}
        {durationMs !== undefined && `, after ${durationText(durationMs)}`}
        {webhook !== undefined && (
          <>
            , webhook <span class="id">{webhook}</span>
          </>
        )}
        {decision !== undefined && (
          <span class="muted">
            {' '}
            → {decision.replaceAll('_', ' ')}
            {reason !== undefined && ` (${reason})`}
          </span>
        )}
      </span>
    </li>
  )
}
