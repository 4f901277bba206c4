import { type ProblemCode, problemStatus } from '../../../src/adapters/http/responses.ts'
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
import { code, generatedFrom, table } from './markdown.ts'
import { type Meanings, rejectionMeanings } from './rejections.ts'

const outcomeMeanings: Meanings<Outcome> = {
  delivered: ['The response status was 200 to 299.', 'Nothing.'],
  http_408: [
    'The endpoint did not receive the complete request in time.',
    'Check for a proxy between Hookline and the endpoint.',
  ],
  http_429: [
    'The endpoint asks for fewer requests. Hookline respects its `Retry-After`.',
    'Lower `delivery.perWebhook`, or wait.',
  ],
  http_5xx: ['The endpoint failed with a status of 500 to 599.', 'The owner of the endpoint has to fix it.'],
  timeout: [
    'The response headers did not arrive within `delivery.timeout`, which includes DNS lookup and TLS handshake.',
    'An endpoint that needs more time should respond with 2xx before it processes the message.',
  ],
  dns: [
    'The host name of the endpoint has no address, or its name servers do not respond.',
    'Check the URL. Look up the name on the machine where Hookline runs.',
  ],
  connect: [
    'Hookline could not connect to any address of the endpoint.',
    'Check firewalls, the port, and whether the server runs.',
  ],
  reset: [
    'The connection was closed before the response was complete.',
    'Check the idle timeout of proxies, and whether the server restarts.',
  ],
  tls_other: [
    'The TLS handshake failed for a reason other than an untrusted certificate.',
    'Check protocol versions, ciphers, and whether the endpoint requires a client certificate.',
  ],
  bad_response: [
    'The response is not HTTP, its headers have more than 16 KiB, or its status is invalid.',
    'Check whether another server listens on this address.',
  ],
  internal: ['Hookline itself failed. An alert fires.', 'Check the log at that time, and report the bug.'],
  http_3xx: [
    'The endpoint responded with a redirect. Hookline follows none, because the target is not configured.',
    'Configure the final URL.',
  ],
  http_4xx: [
    'The endpoint rejected the message with a status of 400 to 499, except 408 and 429.',
    '401 and 403: check the secret and the static headers. 404 and 410: check the URL. 413 and 422: the endpoint does not accept this message.',
  ],
  tls_untrusted: [
    'The certificate is expired, self-signed, for another name, or from an untrusted authority. No byte of the request was sent.',
    'Renew the certificate. Add a private authority to `network.caFile`.',
  ],
  blocked_address: [
    'The name resolves only to private or metadata addresses, or the port is not allowed.',
    'If the address is intended, add it to `network.allow` or the port to `network.ports`.',
  ],
}

const permanentFailure =
  'Every webhook failed permanently. This is the outcome of the first one in configuration order.'
const deadLetterMeanings: Meanings<DeadLetterReason> = {
  http_3xx: [permanentFailure, 'See the outcome of the same name.'],
  http_4xx: [permanentFailure, 'See the outcome of the same name.'],
  tls_untrusted: [permanentFailure, 'See the outcome of the same name.'],
  blocked_address: [permanentFailure, 'See the outcome of the same name.'],
  retries_exhausted: ['The last attempt of the schedule failed too.', 'Fix the endpoint, then replay.'],
  retry_window_over: [
    'The next attempt would begin after the retry window, or the destination was paused until its end.',
    'Replay it.',
  ],
  retry_after_exceeds_window: [
    'The endpoint asked for a delay that is longer than the rest of the retry window.',
    'Replay after that delay.',
  ],
  undecodable: [
    'Hookline cannot read the record as an event. It is damaged, its schema is unknown or not the schema of events, or it is a compressed batch that cannot be decompressed or has more than 64 MiB. Also: the record is marked `canonical` but breaks a rule, it is a delete message that no deletion request asked for, or a bug of Hookline stopped its processing.',
    'Find the producer. `hookline dead-letters --json` shows the offset and headers.',
  ],
  invalid_message: [
    'The event comes from another producer and violates a rule for messages. `outcomes` contains the rejection code.',
    'Fix the producer. A replay of the unchanged event fails again.',
  ],
  unknown_source: ['No source of the configuration has the event’s `sourceId`.', 'Configure the source, then replay.'],
  unknown_destination: [
    'The destination was removed while the delivery waited, or an event names an unknown destination.',
    'Configure the destination under the same id, then replay.',
  ],
  record_too_large: [
    'The delivery needs a retry, but its record is too large for the retry topic.',
    '`hookline topics check` shows topics whose size limit is too small.',
  ],
}

const dropMeanings: Meanings<DropReason> = {
  disabled: ['The destination has `enabled: false`.', 'Use `paused: true` to make messages wait instead.'],
  not_selected: [
    'The field `integrations` of the message has `Webhooks: false`, or `All: false` without `Webhooks`.',
    'Nothing: the sender chose this.',
  ],
  no_destination: ['No destination is connected to the source.', 'Add the source to `destinations[].sources`.'],
  user_deleted: ['The message was received before its user was deleted.', 'Nothing.'],
  suppressed: [
    'The user was deleted with `--suppress` or `suppress`, and the suppression is still active.',
    '`hookline unsuppress-user` removes the suppression.',
  ],
}

const deferralMeanings: Meanings<DeferralCause> = {
  lane_full: [
    'The destination queue is full, because the endpoint is slower than the messages arrive. Other destinations of the partition would have to wait.',
    'Speed up the endpoint, or raise `delivery.perWebhook`.',
  ],
  breaker_open: [
    'The circuit breaker is open, because most deliveries of the last minute failed. Hookline sends one test delivery every 30 s. When it succeeds, the circuit breaker closes.',
    'Check the outcomes of its requests.',
  ],
  not_before: [
    'The record was read before its due time: the wait, for example from `Retry-After`, is longer than the delay of its retry topic.',
    'Nothing.',
  ],
  paused: ['The destination has `paused: true`.', 'Remove it to resume deliveries.'],
  handover: [
    'The partition was revoked while this delivery waited and other deliveries of the same record were done. The metadata of the offset commit had no space left for the list of finished deliveries.',
    'Nothing.',
  ],
  unconfigured: [
    'The source or destination is not in the configuration of the process, which may be about to change.',
    'Configure it. After about two minutes the delivery is dead-lettered as `unknown_source` or `unknown_destination`.',
  ],
}

const replayMeanings: Meanings<ReplayRefusal> = {
  unknown_destination: [
    'The destination is not in the configuration that the command uses.',
    'Configure the destination under the same id.',
  ],
  disabled: [
    'The destination has `enabled: false`, so the message would be dropped.',
    'Set `enabled: true` or `paused: true`.',
  ],
  not_connected: [
    'The source of the event is no longer connected to the destination.',
    'Connect them again, or use `--even-disconnected`.',
  ],
  truncated: [
    'The record was too large for the dead-letter topic, which keeps only the first 64 KiB of it.',
    'The events topic keeps the whole record for 7 days.',
  ],
  unreadable: [
    'The headers do not identify a delivery: Hookline did not write the record.',
    '`hookline dead-letters --json` shows the record.',
  ],
}

const sendAgain = 'Send the same request again, with the same message ids.'
const problemMeanings: Meanings<ProblemCode> = {
  invalid_json: ['The body is not JSON.', 'Fix the sender.'],
  invalid_body: ['The body is JSON, but not of the form that this path requires.', '`message` says what to send.'],
  rejected: ['Strict mode: at least one message is invalid, so none is accepted.', 'Fix the messages in `rejected`.'],
  unknown_source: ['A deletion names a source that is not configured.', 'Use a configured source.'],
  invalid_write_key: ['The write key is missing or belongs to no source.', 'Use the write key of a source.'],
  invalid_operator_key: ['The operator key is missing or wrong.', 'Use a key of `operator.keys`.'],
  forbidden: [
    'The operator key has the role `read`, but the request makes a change.',
    'Use a key with the role `operate`.',
  ],
  not_found: ['The path, or the object that it names, does not exist.', 'Check the path.'],
  unknown_audience: ['`audiences.list` has no audience of this name.', 'Use a configured audience.'],
  method_not_allowed: ['The path does not support this method.', 'Use a method of the `Allow` header.'],
  payload_too_large: [
    'The request exceeds a [limit](tracking-api.md#answers) of bytes or messages.',
    'Send smaller batches.',
  ],
  rate_limited: ['The source exceeds `collector.ratePerSource`.', 'Wait for the time in `Retry-After`, as SDKs do.'],
  unavailable: ['Writes to Kafka fail, or the memory for request bodies is full.', sendAgain],
  malformed_request: ['The request is not valid HTTP/1.1. The connection is closed.', 'Fix the client.'],
  request_timeout: ['The request was received too slowly.', sendAgain],
  expectation_failed: ['The request has an `Expect` header other than `100-continue`.', 'Remove the header.'],
  headers_too_large: [
    'The request has more than 16 KiB of headers or more than 200 header fields.',
    'Send fewer headers.',
  ],
  internal_error: ['Hookline failed; the log has the error.', sendAgain],
}

const head = `# Errors and outcomes

All codes that Hookline uses for failures, with their meaning and what to do. The same code appears as metric label, log field, record header and command option. Each list is complete.
${generatedFrom('the lists in the code')}
`

/** Returns the text of `docs/reference/errors.md`. */
export function errorsText(): string {
  const isRetried = (outcome: string): boolean => retryableOutcomes.some(each => each === outcome)
  const effect = (outcome: Outcome): string => (isRetried(outcome) ? 'retried' : 'permanent failure')
  return [
    head,
    section(
      'Outcomes of a request',
      `The result of one POST request to one webhook: \`hookline_webhook_calls_total{outcome}\`, \`hookline dead-letters --outcome\`. What *retried* and *permanent failure*
mean for the delivery: [retries and dead letters](../explanation/retries-and-dead-letters.md).`,
      ['outcome', 'effect', 'meaning', 'what to do'],
      outcomes.map(each => [code(each), each === 'delivered' ? 'done' : effect(each), ...outcomeMeanings[each]]),
    ),
    section(
      'Dead-letter reasons',
      'Why a record is in the topic `hookline.dead-letter`: its header `reason`, `hookline_dead_letters_total{reason}`, `hookline dead-letters --reason`. The topic keeps it for 30 days, in which you can [replay](../how-to/replay.md) it.',
      ['reason', 'meaning', 'what to do'],
      deadLetterReasons.map(each => [code(each), ...deadLetterMeanings[each]]),
    ),
    section(
      'Drops',
      'Why Hookline drops a delivery, because of the configuration, the message or a deletion: `hookline_drops_total{reason}`, and a log line of the level debug. Dropped deliveries are not kept.',
      ['reason', 'meaning', 'what to do'],
      dropReasons.map(each => [code(each), ...dropMeanings[each]]),
    ),
    section(
      'Deferrals',
      'Why a delivery waits in a retry topic without an attempt: `hookline_deferrals_total{cause}`.',
      ['cause', 'meaning', 'what to do'],
      deferralCauses.map(each => [code(each), ...deferralMeanings[each]]),
    ),
    section(
      'Dead letters that cannot be replayed',
      'Why `hookline replay` does not replay a dead letter and exits with code 1.',
      ['reason', 'meaning', 'what to do'],
      replayRefusals.map(each => [code(each), ...replayMeanings[each]]),
    ),
    section(
      'Error responses of the HTTP APIs',
      'Status and `code` of an error response: `hookline_collector_answers_total{code}`. For SDKs see the [tracking API](tracking-api.md).',
      ['status', 'code', 'meaning', 'what to do'],
      answerRows(),
    ),
    section(
      'Rejected messages',
      'Why one message of a batch is rejected: in `rejected` of the response and in the topic `hookline.rejected`. For an event in Kafka, the code is in `outcomes` of a dead letter with the reason `invalid_message`.',
      ['code', 'meaning', 'what to do'],
      rejectionCodes.map(each => [code(each), ...rejectionMeanings[each]]),
    ),
    `## Client library\nFor its error classes, codes and reasons see [send messages from Node](../how-to/send-from-node.md#errors).\n`,
  ].join('\n')
}

function answerRows(): readonly (readonly string[])[] {
  const codes = Object.keys(problemStatus) as ProblemCode[]
  return codes
    .toSorted((a, b) => problemStatus[a] - problemStatus[b])
    .map(each => [String(problemStatus[each]), code(each), ...problemMeanings[each]])
}

const section = (
  title: string,
  text: string,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): string => `## ${title}\n${text}\n\n${table(titles, rows)}\n`
