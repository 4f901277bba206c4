import { problemStatus } from '../../../src/adapters/http/response-codes-and-bodies.ts'
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
} from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { type ReplayRefusal, replayRefusals } from '../../../src/core/delivery/replay-decision.ts'
import { rejectionCodes } from '../../../src/core/message/message-rejection.ts'
import { objectRefusalStatus } from '../../../src/core/operator/object-refusal.ts'
import { problemMeanings } from './error-response-code-meanings.ts'
import { code, generatedFrom, table } from './markdown.ts'
import { objectOnlyMeanings } from './operator-only-code-meanings.ts'
import { type Meanings, rejectionMeanings } from './rejection-meanings.ts'

const outcomeMeanings: Meanings<Outcome> = {
  delivered: ['The response status was 200 to 299.', 'Nothing.'],
  http_408: [
    'The endpoint, or a proxy in front of it, did not receive the complete request in time.',
    'Check the network and the proxies between Hookline and the endpoint.',
  ],
  http_429: [
    'The endpoint asks for fewer requests. Hookline makes fewer attempts per second at the destination, and honours `Retry-After`.',
    'Usually nothing: messages wait, and their rate adapts to the endpoint. [Limit the rate](../how-to/limit-the-rate.md) says when to set `policy.ratePerSecond`.',
  ],
  http_5xx: ['The endpoint failed with a status of 500 to 599.', 'The owner of the endpoint has to fix it.'],
  timeout: [
    'The response headers did not arrive within `delivery.timeout`, or within `policy.timeout` of the destination. The time includes DNS lookup and TLS handshake.',
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
  proxy: [
    'The egress proxy (`network.proxy`) failed or refused the request, so nothing was sent to the endpoint. The circuit breaker ignores this outcome.',
    'Check `network.proxy`, whether the proxy runs, and the field `detail` of the log line `request not sent, because the proxy failed or refused it`. See [Send through an egress proxy](../how-to/send-through-an-egress-proxy.md).',
  ],
  reset: [
    'The connection was closed before all headers of the response had arrived.',
    'Check the idle timeout of proxies, and whether the server restarts.',
  ],
  tls_other: [
    'The TLS handshake failed for a reason other than an untrusted certificate.',
    'Check protocol versions and ciphers: Hookline uses TLS 1.2 or newer, and no cipher suite with DHE (ECDHE is permitted). If the endpoint requires a client certificate, see [Authenticate with a client certificate](../how-to/authenticate-with-a-client-certificate.md).',
  ],
  bad_response: [
    'The response is not HTTP, its headers have more than 16 KiB, or its status is invalid.',
    'Check whether another server listens on this address.',
  ],
  auth: [
    'Hookline could not get an access token (`auth.oauth2`), so it did not send the request. Or the endpoint responded with 401, but [may accept a later token](../how-to/authenticate-with-oauth2.md#when-hookline-requests-a-token). Hookline makes the attempt again later. The circuit breaker ignores this outcome.',
    'Check the log for `token request failed`: its fields `outcome` and `detail` say why. If the log has no line of this kind, ask the owner of the endpoint why it responds with 401.',
  ],
  internal: [
    'Hookline failed because of a bug. The alert `HooklineInternalErrors` fires.',
    'Check the log at that time, and report the bug.',
  ],
  http_3xx: [
    'The endpoint responded with a redirect. Hookline follows no redirects.',
    'Configure the URL to which the redirect leads.',
  ],
  http_4xx: [
    'The endpoint rejected the message with a status of 400 to 499, except 408 and 429.',
    '401 and 403: check the secret and the static headers. 404 and 410: check the URL. Other statuses: ask the owner of the endpoint why it does not accept the message.',
  ],
  tls_untrusted: [
    'The certificate is expired, self-signed, for another name, or from an untrusted authority. No byte of the request was sent.',
    'Renew or correct the certificate. If a private CA issued the certificate, add this CA to `network.caFile`. If the destination has `tls.caFile` or `tls.ca`, add the CA there instead.',
  ],
  blocked_address: [
    'The URL leads to a private address that is not in `network.allow`, to a cloud metadata service, or to a port that is not in `network.ports` (by default 80, 443 and all ports from 1024).',
    'Add an intended private address to `network.allow`, and an intended port to `network.ports`. Metadata addresses are never allowed.',
  ],
}

const asInOutcomes = (outcome: string): string =>
  `See \`${outcome}\` in the table of [outcomes](#outcomes-of-a-request).`

const permanentFailure = (
  outcome: 'http_3xx' | 'http_4xx' | 'tls_untrusted' | 'blocked_address',
): readonly [string, string] => [
  `All webhooks of the destination failed permanently; the outcome of the first configured webhook is \`${outcome}\`.`,
  asInOutcomes(outcome),
]

const deadLetterMeanings: Meanings<DeadLetterReason> = {
  http_3xx: permanentFailure('http_3xx'),
  http_4xx: permanentFailure('http_4xx'),
  tls_untrusted: permanentFailure('tls_untrusted'),
  blocked_address: permanentFailure('blocked_address'),
  retries_exhausted: ['All attempts that the schedule permits have failed.', 'Fix the endpoint, then replay.'],
  retry_window_over: [
    'The next attempt would begin after the end of the retry window, or the destination was still paused at the end of the window.',
    'Fix the endpoint, or remove `paused: true`, then replay.',
  ],
  retry_after_exceeds_window: [
    'The endpoint asked for a delay that is longer than the rest of the retry window.',
    'Replay after that delay.',
  ],
  undecodable: [
    'Hookline cannot process the record as an event. Usually, another program wrote the record: with an unknown schema, with the field `canonical: true`, or without the headers that a retry topic requires. [HooklineInputRefused](../runbooks/HooklineInputRefused.md) lists all causes.',
    'Find and correct the producer: `hookline dead-letters --json` shows the topic, the offset and the headers. A producer other than Hookline must write `canonical: false`.',
  ],
  invalid_message: [
    'Another program wrote the event to Kafka, and the event breaks a rule for messages. The header `outcomes` of the dead letter contains the [code of the rule](#rejected-messages).',
    'Fix the program. A replay fails again, because it does not change the event.',
  ],
  unknown_source: [
    'No source in the configuration has the id that is in the field `sourceId` of the event.',
    'Configure the source, then replay. If the id begins with `hookline.`, which only Hookline may use, correct the program that wrote the event.',
  ],
  unknown_destination: [
    'The destination was removed while the delivery waited, or the event names a destination that is not configured. Another cause is [a new destination with the id of a removed one](../how-to/add-a-destination.md#use-the-id-of-a-removed-destination-again).',
    'Configure the destination under the same id, then replay.',
  ],
  record_too_large: [
    'The delivery has to wait, but its record is too large for the retry topic.',
    'Raise `max.message.bytes` of the topics that `hookline topics check` reports, then replay.',
  ],
}

const dropMeanings: Meanings<DropReason> = {
  disabled: [
    'The destination has `enabled: false`, or Hookline has disabled the destination because of its `lifecycle`.',
    'To deliver new messages, enable the destination: set `enabled: true` or, if Hookline itself has disabled it, run `hookline destinations enable`. If new messages should wait until you permit deliveries, set `paused: true` before you enable the destination.',
  ],
  not_selected: [
    'The field `integrations` of the message has `Webhooks: false`, or `All: false` without `Webhooks`.',
    'Nothing: the sender chose this.',
  ],
  filtered: [
    'The `filter` of the destination excludes the message.',
    'If this is intended, nothing. Otherwise, run `hookline preview`: it names the rule that excludes a message.',
  ],
  no_destination: [
    'No destination has the source in its `sources`, or the destination that the event names does not list the source.',
    'If a destination should get these messages, add the source to `destinations[].sources`.',
  ],
  user_deleted: ['The message was received before its user was deleted.', 'Nothing.'],
  suppressed: [
    'The user was deleted with `--suppress` (over HTTP: `suppress`), so later messages are dropped too.',
    'To accept the user again: `hookline unsuppress-user`.',
  ],
}

const deferralMeanings: Meanings<DeferralCause> = {
  lane_full: [
    'Too many deliveries to this destination wait in the memory of the process, usually because the endpoint responds more slowly than messages arrive. [Deferral without an attempt](../explanation/retries-and-dead-letters.md#deferral-without-an-attempt) lists all causes.',
    'Speed up the endpoint, or raise `delivery.perWebhook`. If other destinations use up `delivery.maxInFlight` or `delivery.perHost`, raise the limit that they use up. If `policy.maxConcurrency` is less than `topics.partitions`, raise it to at least `topics.partitions`, because Hookline divides it among the partitions.',
  ],
  breaker_open: [
    'The circuit breaker of the destination is open: at least ten attempts ended within a minute, and at least 70 % of them failed with a [retryable outcome that counts for the circuit breaker](../explanation/retries-and-dead-letters.md#deferral-without-an-attempt). While it is open, Hookline makes only one attempt every 30 s. It closes when one of these attempts is delivered or fails permanently, because the endpoint then responds again.',
    'Check the outcomes of the requests to this destination.',
  ],
  not_before: [
    'The delivery is not due yet. Examples: (1) The `Retry-After` of the endpoint is longer than the wait of a single retry topic, so the delivery waits in several retry topics one after the other. (2) Hookline pauses the destination after a 429.',
    'Nothing.',
  ],
  auth: [
    'Hookline could not get an access token for the destination (`auth.oauth2`), or an endpoint responded with 401, but may accept a later token. In both cases, Hookline treats the attempt as not made.',
    asInOutcomes('auth'),
  ],
  paused: [
    'The destination has `paused: true`, or it is excluded because of a problem in its configuration.',
    'Remove `paused: true`, or correct the problem, to resume deliveries.',
  ],
  handover: [
    'The partition moved to another process while this delivery waited in memory. Other deliveries of the same event are finished. Hookline wrote this delivery to a retry topic, so that it could commit the event as done. Otherwise, the other process would read the event again, and repeat the finished deliveries.',
    'Nothing.',
  ],
  unconfigured: [
    'The configuration of the process does not have the source or the destination. The delivery waits, because other processes may already have a newer configuration.',
    'Nothing, if the processes are still loading a new configuration. Otherwise, configure the missing source or destination: after one to two minutes, Hookline dead-letters the delivery with `unknown_source` or `unknown_destination`.',
  ],
}

const replayMeanings: Meanings<ReplayRefusal> = {
  unknown_destination: [
    'The destination is not in the configuration that the command or the operator service uses, or its configuration cannot be read.',
    'Configure the destination under the same id, or correct its configuration.',
  ],
  disabled: [
    'The destination has `enabled: false`, or Hookline has disabled it, so the message would be dropped.',
    'Set `enabled: true`, or run `hookline destinations enable`. To let the message wait, also set `paused: true`.',
  ],
  not_connected: [
    'The source of the event is no longer connected to the destination.',
    'Add the source to `sources` of the destination again, or use `--even-disconnected`.',
  ],
  deletion_expired: [
    'The dead letter is a *delete message*: it tells the destination that a user was deleted. Hookline delivers a delete message only while it has the record of the deletion. This deletion is older than about 50 days, so Hookline may no longer have its record.',
    'Delete the user again.',
  ],
  truncated: [
    'The dead letter has only the first 64 KiB of a record that was too large for the dead-letter topic, or of a compressed Kafka batch that Hookline could not read.',
    'Read the whole record or batch from its topic before the retention ends (events topic: 7 days, retry topic: 3 days): `hookline dead-letters --json` shows the topic, partition and offset.',
  ],
  too_large: [
    'The copy of the dead letter is larger than `max.message.bytes` of the topic to which the replay writes it. A dry run cannot predict this refusal.',
    'Raise `max.message.bytes` of the topic, for example to 2097152 (2 MiB), and replay again. `hookline replay --dry-run` shows the topic.',
  ],
  unreadable: [
    'Hookline cannot decode the event in the dead letter, so it does not know the source of the event. Or the dead letter comes neither from a delivery nor from the events topic: for example, another program wrote it.',
    'If the schema of the event is missing in the registry, register the schema and replay. If you know that the destination may get the event, use `--even-disconnected`. Other dead letters with this reason cannot be replayed: `hookline dead-letters --json` shows them.',
  ],
}

const head = `# Errors and outcomes

This page lists the codes that Hookline uses for failures, with their meaning and what to do. A code is the same in metric labels, log fields, record headers and command options. The [glossary](glossary.md) explains terms of deliveries, such as *circuit breaker*, *permit* and *retry window*.
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
      `An outcome is the result of one POST request to one webhook. The metric \`hookline_webhook_calls_total{outcome}\` counts requests by outcome, and \`hookline dead-letters --outcome\` selects dead letters by outcome. After an outcome with the effect *permanent failure*, Hookline does not repeat the request ([Retries and dead letters](../explanation/retries-and-dead-letters.md)).`,
      ['outcome', 'effect', 'meaning', 'what to do'],
      outcomes.map(each => [code(each), each === 'delivered' ? 'done' : effect(each), ...outcomeMeanings[each]]),
    ),
    section(
      'Dead-letter reasons',
      'The header `reason` of a record in the topic `hookline.dead-letter` says why the record is there. The metric `hookline_dead_letters_total{reason}` counts dead letters by reason, and `hookline dead-letters --reason` selects them. The topic keeps a record for 30 days. During this time you can [replay](../how-to/replay.md) it.',
      ['reason', 'meaning', 'what to do'],
      deadLetterReasons.map(each => [code(each), ...deadLetterMeanings[each]]),
    ),
    section(
      'Drops',
      'The reason says why Hookline intentionally does not make a delivery. The metric `hookline_drops_total{reason}` counts dropped deliveries. Hookline does not keep them. At the [log level](../how-to/diagnose-an-installation.md#increase-the-log-level) `debug`, the log has a line for each of them.',
      ['reason', 'meaning', 'what to do'],
      dropReasons.map(each => [code(each), ...dropMeanings[each]]),
    ),
    section(
      'Deferrals',
      'The cause says why a delivery waits in a retry topic without an attempt. The metric `hookline_deferrals_total{cause}` counts these deferrals.',
      ['cause', 'meaning', 'what to do'],
      deferralCauses.map(each => [code(each), ...deferralMeanings[each]]),
    ),
    section(
      'Dead letters that cannot be replayed',
      'The reason says why `hookline replay` does not replay a dead letter. The exit code of the command is then 1, except with `--dry-run`.',
      ['reason', 'meaning', 'what to do'],
      replayRefusals.map(each => [code(each), ...replayMeanings[each]]),
    ),
    section(
      'Error responses of the HTTP APIs',
      'An error response has a status and, in its body, a `code`. The metrics `hookline_collector_answers_total{code}` and `hookline_operator_answers_total{code}` count responses by code. The pages of the [tracking API](tracking-api.md#responses) and the [operator API](operator-api.md#responses) describe the codes of each API.',
      ['status', 'code', 'meaning', 'what to do'],
      answerRows(),
    ),
    section(
      'Rejected messages',
      'The code says why one message of a batch is rejected. The field `rejected` of the response and the topic `hookline.rejected` have the code. For an event that another program wrote to Kafka, the code is in the header `outcomes` of a dead letter with the reason `invalid_message`.',
      ['code', 'meaning', 'what to do'],
      rejectionCodes.map(each => [code(each), ...rejectionMeanings[each]]),
    ),
    `## Client library\n[Send messages from Node](../how-to/send-from-node.md#errors) lists the error classes, codes and reasons of the client library.\n`,
  ].join('\n')
}

function answerRows(): readonly (readonly string[])[] {
  const statuses = { ...objectRefusalStatus, ...problemStatus }
  const meanings = { ...objectOnlyMeanings, ...problemMeanings }
  return (Object.keys(statuses) as (keyof typeof statuses)[])
    .toSorted((a, b) => statuses[a] - statuses[b])
    .map(each => [String(statuses[each]), code(each), ...meanings[each]])
}

const section = (
  title: string,
  text: string,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): string => `## ${title}\n${text}\n\n${table(titles, rows)}\n`
