import { type ProblemCode, problemStatus } from '../../../src/adapters/http/answers.ts'
import {
  type DeadLetterReason,
  type DeferralCause,
  type DropReason,
  deadLetterReasons,
  deferralCauses,
  dropReasons,
  type Outcome,
  outcomes,
  retryableOutcomes,
} from '../../../src/core/delivery/outcome.ts'
import { type ReplayRefusal, replayRefusals } from '../../../src/core/delivery/replay-target.ts'
import { rejectionCodes } from '../../../src/core/message/message.ts'
import { code, madeFrom, table } from './markdown.ts'
import { type Meanings, ofRejections } from './rejections.ts'

const ofOutcomes: Meanings<Outcome> = {
  delivered: ['The answer was 200 to 299.', ''],
  http_408: ['The endpoint waited too long for the request.', 'Look for a proxy between.'],
  http_429: [
    'The endpoint asks for fewer requests. `Retry-After` is kept to.',
    'Lower `delivery.perWebhook`, or wait.',
  ],
  http_5xx: ['The endpoint failed: 500 to 599.', 'The customer’s to mend.'],
  timeout: [
    'No complete head of an answer within `delivery.timeout`, name lookup and TLS included.',
    'An endpoint that needs longer answers 2xx first and works then.',
  ],
  dns: [
    'The name of the endpoint has no address, or its name servers do not answer.',
    'Check the URL; look the name up where Hookline runs.',
  ],
  connect: ['No connection to any address of the endpoint.', 'Firewall, port, a server that is down.'],
  reset: [
    'The connection broke, or was closed before an answer was complete.',
    'A proxy’s idle time-out, a server that restarts.',
  ],
  tls_other: [
    'The TLS handshake failed for another reason than trust.',
    'Protocol versions, ciphers, a certificate asked of us.',
  ],
  bad_response: [
    'What came back is no HTTP, its head is over 16 KiB, or its status is none.',
    'Something else listens there.',
  ],
  internal: ['Our own fault. It alarms.', 'Look in the log of that time; a bug report is welcome.'],
  http_3xx: [
    'A redirect. None is followed: the request would go where nobody configured it.',
    'Configure the final URL.',
  ],
  http_4xx: [
    'Refused: 400 to 499 but for 408 and 429.',
    '401 and 403: the secret or a static header. 404, 410: the URL. 413, 422: the receiver does not take this message.',
  ],
  tls_untrusted: [
    'The certificate is expired, self-signed, of another name or an authority that is not trusted. No byte of the request was sent.',
    'Renew it; a private authority goes into `network.caFile`.',
  ],
  blocked_address: [
    'The name resolves to private or metadata addresses only, or the port is not allowed.',
    '`network.allow`, `network.ports`, if it is meant.',
  ],
}

const refusedLike = 'Every webhook refused; of several the first one’s in configuration order.'
const ofReasons: Meanings<DeadLetterReason> = {
  http_3xx: [refusedLike, 'As the outcome.'],
  http_4xx: [refusedLike, 'As the outcome.'],
  tls_untrusted: [refusedLike, 'As the outcome.'],
  blocked_address: [refusedLike, 'As the outcome.'],
  retries_exhausted: ['The last attempt of the schedule failed too.', 'Mend the endpoint, then put it back.'],
  retry_window_over: [
    'The next attempt would begin after the window, or the destination was paused to its end.',
    'Put it back.',
  ],
  retry_after_exceeds_window: [
    'The endpoint asked for a pause that is longer than what is left of the window.',
    'Put it back when the pause is over.',
  ],
  undecodable: [
    'The bytes are not an event: damaged, a schema id that the registry does not know, another schema, a compressed batch of over 64 MiB or one that cannot be unpacked; or the record is marked canonical and is not, or is a delete that nobody asked for.',
    'Find who writes it; `hookline dead-letters --json` has its place and headers.',
  ],
  invalid_message: [
    'An event that a foreign producer wrote breaks a rule; the code of the rule is in `outcomes`.',
    'Mend the producer. Put back unchanged it fails again.',
  ],
  unknown_source: ['No source of the configuration has the event’s `sourceId`.', 'Configure it, then put it back.'],
  unknown_destination: [
    'The destination was removed while this waited, or an event names one that there is not.',
    'Configure it under the same id, then put it back.',
  ],
  record_too_large: [
    'It has to wait for its next attempt, and the retry topic does not take a record of its size.',
    '`hookline topics check` shows which topics take less than they need.',
  ],
}

const ofDrops: Meanings<DropReason> = {
  disabled: ['The destination has `enabled: false`.', '`paused: true` would let it wait.'],
  not_selected: ['The message’s `integrations` leave out `Webhooks`, or `All`.', 'It is the sender’s choice.'],
  no_destination: ['No destination is connected to the source.', 'Name the source in `destinations[].sources`.'],
  user_deleted: ['It was received before its user was deleted.', ''],
  suppressed: ['Its user is suppressed.', '`hookline unsuppress-user` lifts that.'],
}

const ofDeferrals: Meanings<DeferralCause> = {
  lane_full: [
    'The destination takes less than comes for it, and others on the partition would wait.',
    'A faster endpoint; `delivery.perWebhook`.',
  ],
  breaker_open: [
    'Most of its deliveries of the last minute failed: it is tried twice a minute until one succeeds.',
    'See the outcomes of its calls.',
  ],
  not_before: ['It came up before its time, because tiers are no longer than the wait.', ''],
  paused: ['`paused: true`.', ''],
  handover: [
    'Its partition was given to another process, its other destinations were done, and the commit had no room to say so.',
    '',
  ],
  unconfigured: [
    'Its source or destination is not in the configuration of the process that read it, which may be about to change.',
    'After about two minutes it is a dead letter: `unknown_source` or `unknown_destination`.',
  ],
}

const ofReplays: Meanings<ReplayRefusal> = {
  unknown_destination: [
    'The destination is not in the configuration that the command was given.',
    'Configure it under the same id.',
  ],
  disabled: ['The destination has `enabled: false`, which would drop it.', '`enabled: true`, or `paused: true`.'],
  not_connected: [
    'The source of the event is not connected to the destination any more.',
    'Connect them again, or `--even-disconnected`.',
  ],
  truncated: [
    'It is larger than the dead-letter topic takes: only its first 64 KiB are there.',
    'The whole record is at its origin for as long as the events topic keeps it (7 days).',
  ],
  unreadable: [
    'Its headers do not tell what it was: something else wrote it.',
    '`hookline dead-letters --json` shows all there is.',
  ],
}

const again = 'Send the same again, with the same ids.'
const ofAnswers: Meanings<ProblemCode> = {
  invalid_json: ['The body is not JSON.', 'Mend the sender.'],
  invalid_body: ['JSON, but not what this path takes.', '`message` says what to send.'],
  rejected: ['Strict mode: at least one message is rejected, and none is taken.', 'Mend those that `rejected` lists.'],
  unknown_source: ['A deletion names a source that is not configured.', 'Operators’ API.'],
  invalid_write_key: ['No source has this write key, or there is none.', 'The write key of a source.'],
  invalid_operator_key: ['The operator key is missing or wrong.', '`operator.keys`.'],
  forbidden: ['The operator key has the role `read`, and the request is a change.', 'A key with the role `operate`.'],
  not_found: ['No such path, or nothing of that name.', ''],
  unknown_audience: ['`audiences.list` has no audience of this name.', 'Operators’ API.'],
  method_not_allowed: ['`Allow` has the methods of the path.', ''],
  payload_too_large: ['Over a [limit](tracking-api.md#answers) of bytes or messages.', 'Smaller batches.'],
  rate_limited: ['Over `collector.ratePerSource`.', 'Wait as long as `Retry-After` says. SDKs do.'],
  unavailable: ['Kafka does not take messages, or the share of memory for bodies is full.', again],
  malformed_request: ['No valid HTTP/1.1.', 'The connection closes.'],
  request_timeout: ['The request came too slowly.', again],
  expectation_failed: ['An `Expect` other than `100-continue`.', ''],
  headers_too_large: ['Over 16 KiB of header, or over 200 fields.', ''],
  internal_error: ['Our fault; it is in the log.', again],
}

const head = `# Errors and outcomes

Every word that Hookline gives a failure. They are closed sets: the same word is the metric's label, the field of the log, the header of the record and the option of a command.
${madeFrom('those sets in the code')}
`

/** `docs/reference/errors.md` */
export function errorsText(): string {
  const isRetried = (outcome: string): boolean => retryableOutcomes.some(each => each === outcome)
  const effect = (outcome: Outcome): string => (isRetried(outcome) ? 'tried again' : 'refused')
  return [
    head,
    section(
      'Outcomes of a call',
      `What one POST to one webhook came to: \`hookline_webhook_calls_total{outcome}\`, \`hookline dead-letters --outcome\`. What *tried again* and *refused*
mean for the delivery: [retries and dead letters](../explanation/retries-and-dead-letters.md).`,
      ['outcome', 'then', '', 'look for'],
      outcomes.map(each => [code(each), each === 'delivered' ? 'done' : effect(each), ...ofOutcomes[each]]),
    ),
    section(
      'Dead-letter reasons',
      'Why a record stands on `hookline.dead-letter`: its header `reason`, `hookline_dead_letters_total{reason}`, `hookline dead-letters --reason`. It stays for 30 days; [put it back](../how-to/replay.md).',
      ['reason', '', 'what to do'],
      deadLetterReasons.map(each => [code(each), ...ofReasons[each]]),
    ),
    section(
      'Drops',
      'A delivery that is rightly not made: `hookline_drops_total{reason}`, and a line of the log at debug. Nothing is kept.',
      ['reason', '', ''],
      dropReasons.map(each => [code(each), ...ofDrops[each]]),
    ),
    section(
      'Deferrals',
      'Why a delivery waits in a retry topic without having been attempted: `hookline_deferrals_total{cause}`.',
      ['cause', '', ''],
      deferralCauses.map(each => [code(each), ...ofDeferrals[each]]),
    ),
    section(
      'What a replay leaves',
      'Why `hookline replay` leaves a dead letter where it is, and ends with 1.',
      ['', 'why', 'what to do'],
      replayRefusals.map(each => [code(each), ...ofReplays[each]]),
    ),
    section(
      'Answers of the collector',
      'Status and `code` of an answer that is no success: `hookline_collector_answers_total{code}`. What SDKs get: [tracking API](tracking-api.md).',
      ['status', 'code', '', ''],
      answerRows(),
    ),
    section(
      'Rejected messages',
      'Why one message of a batch is not taken, in `rejected` of the answer and on `hookline.rejected`; of an event on Kafka it is the `outcomes` of a dead letter with the reason `invalid_message`.',
      ['code', '', ''],
      rejectionCodes.map(each => [code(each), ...ofRejections[each]]),
    ),
    `## Of the client library\nIts error classes, codes and reasons are in [send messages from Node](../how-to/send-from-node.md#errors).\n`,
  ].join('\n')
}

function answerRows(): readonly (readonly string[])[] {
  const codes = Object.keys(problemStatus) as ProblemCode[]
  return codes
    .toSorted((a, b) => problemStatus[a] - problemStatus[b])
    .map(each => [String(problemStatus[each]), code(each), ...ofAnswers[each]])
}

const section = (
  title: string,
  text: string,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): string => `## ${title}\n${text}\n\n${table(titles, rows)}\n`
