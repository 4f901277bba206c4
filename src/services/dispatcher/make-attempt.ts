import type { RequestBuilder } from '../../core/delivery/build-and-sign-requests.ts'
import type { Attempt, CallOutcome } from '../../core/delivery/decide.ts'
import { classify, isOfEndpoint, type Outcome } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { Webhook } from '../../core/settings/settings.ts'
import type { EpochMs } from '../../core/time.ts'
import { sampledTraceIdOf, type TraceContext, traceHeaders } from '../../core/trace/context.ts'
import type { Span, Tracer } from '../../core/trace/tracer.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/webhook-ports.ts'
import type { DestinationObserver } from '../notices/facts-seen-by-this-process.ts'
import type { AttemptTrace } from './attempt-trace.ts'
import type { AuthorizedTransport } from './authorized-transport.ts'
import type { Delivery, DestinationState } from './delivery.ts'
import type { PreparedWebhook } from './destination-delivery-plan.ts'
import { createProxyFailureLog, type LogProxyFailure } from './proxy-failure-log.ts'

interface Deps {
  readonly transport: Pick<WebhookTransport, 'post'>
  readonly limiter: ConcurrencyLimiter
  readonly clock: Pick<Clock, 'monotonic'>
  readonly metrics: Metrics
  readonly logger: Logger
  readonly observer: Pick<DestinationObserver, 'gone'>
  /** Called when a request to the destination has ended and its permits are free. */
  readonly onCallEnd: (target: DestinationState) => void
  /** `undefined` when attempts are not traced. */
  readonly tracer: Tracer | undefined
}

export interface StartedAttempt {
  readonly delivery: Delivery
  readonly requestBuilder: RequestBuilder
  /** `undefined` when the destination needs no access token. */
  readonly authorized: AuthorizedTransport | undefined
  readonly policy: RetryPolicy
  /** All webhooks of the destination, in the order of the configuration. */
  readonly preparedWebhooks: readonly PreparedWebhook[]
  /** The webhooks that get a request, all concurrently. */
  readonly webhooks: readonly PreparedWebhook[]
  /** Number of webhooks that get no request: no permit is free, or `maxConcurrency` is reached. */
  readonly webhooksWithoutPermit: number
  /** Whether a webhook gets no request because other destinations hold permits that it needs. */
  readonly isHeldUpByOthers: boolean
  /** Whether a webhook gets no request because it is at `maxConcurrency` and does not respond. */
  readonly isHeldUpByWebhook: boolean
  readonly at: EpochMs
  /** When the attempt started, in monotonic milliseconds. */
  readonly startedAt: number
  /**
   * Hashes of the webhooks' URLs: when the URLs change, the counted failures are discarded.
   * `undefined` if failures never disable the destination.
   */
  readonly watchedUrlHashes: string | undefined
  readonly isProbe: boolean
  /** `undefined` when attempts are not traced. */
  readonly trace: AttemptTrace | undefined
}

/** Called at the first success, or when all requests have ended without one. */
export type OnAttemptEnd = (begun: StartedAttempt, attempt: Attempt) => void

/**
 * Sends concurrent requests to the webhooks, and calls `onEnd` once. Requests that end after this
 * call count only in metrics.
 */
export type MakeAttempt = (begun: StartedAttempt, onEnd: OnAttemptEnd) => void

export function createMakeAttempt(given: Deps): MakeAttempt {
  const deps: AttemptDeps = { ...given, logProxyFailure: createProxyFailureLog(given) }
  return (begun, onEnd) => new AttemptInProgress(deps, begun, onEnd).start()
}

interface AttemptDeps extends Deps {
  readonly logProxyFailure: LogProxyFailure
}

/**
 * One attempt. It is a class, because closures would cost the garbage collector more time with
 * thousands of requests.
 */
class AttemptInProgress {
  readonly #deps: AttemptDeps
  readonly #begun: StartedAttempt
  readonly #onEnd: OnAttemptEnd
  /** The outcomes, by the index of the webhook; `undefined` until the first request has ended. */
  #outcomes: (CallOutcome | undefined)[] | undefined
  #inProgress: number
  #hasEnded = false

  constructor(deps: AttemptDeps, begun: StartedAttempt, onEnd: OnAttemptEnd) {
    this.#deps = deps
    this.#begun = begun
    this.#onEnd = onEnd
    this.#inProgress = begun.webhooks.length
  }

  start(): void {
    const { delivery, requestBuilder, webhooks, at } = this.#begun
    if (webhooks.length === 0) return this.#end()
    const { body, carried } = delivery
    const calls = requestBuilder.calls(webhooks, { body, messageId: carried.messageId, at })
    for (let index = 0; index < calls.length; index++) this.#call(index, calls[index] as WebhookCall)
  }

  #call(index: number, call: WebhookCall): void {
    const { transport, limiter, tracer } = this.#deps
    const { delivery, webhooks, trace, authorized = transport } = this.#begun
    const webhook = webhooks[index] as PreparedWebhook
    limiter.acquire(delivery.target, webhook.permits)
    const span = tracer && trace && traceCall(tracer, trace.context, webhook)
    authorized.post(span === undefined ? call : withTraceHeaders(call, webhook, span), result =>
      this.#ended(index, result, span),
    )
  }

  #ended(index: number, result: CallResult, span: Span | undefined): void {
    const { limiter, clock, metrics, onCallEnd } = this.#deps
    const { delivery, webhooks, startedAt, trace } = this.#begun
    const webhook = webhooks[index] as PreparedWebhook
    const endedAt = clock.monotonic()
    const tookMs = endedAt - startedAt
    limiter.ended(delivery.target, webhook.permits, tookMs, endedAt)
    metrics.webhookCallSeconds.observe(noLabels, tookMs / 1000, trace && sampledTraceIdOf(trace.context))
    const outcome = noteOutcome(this.#deps, delivery.target, webhook, result)
    if (isOfEndpoint(outcome.outcome)) webhook.permits.ofWebhook.noteResponse(result.kind === 'answered')
    this.#outcomes ??= []
    this.#outcomes[index] = outcome
    if (span !== undefined) endCall(span, result, outcome)
    this.#inProgress--
    if (!this.#hasEnded && (outcome.outcome === 'delivered' || this.#inProgress === 0)) this.#end()
    onCallEnd(delivery.target)
  }

  #end(): void {
    const { delivery, at, webhooksWithoutPermit, isHeldUpByOthers, isHeldUpByWebhook } = this.#begun
    this.#hasEnded = true
    const calls = (this.#outcomes ?? []).filter(outcome => outcome !== undefined)
    const number = delivery.carried.attempt + 1
    this.#onEnd(this.#begun, { number, at, calls, webhooksWithoutPermit, isHeldUpByOthers, isHeldUpByWebhook })
  }
}

function noteOutcome(
  deps: AttemptDeps,
  { destination }: DestinationState,
  webhook: PreparedWebhook,
  result: CallResult,
): CallOutcome {
  const outcome = classify(result)
  if (outcome === 'delivered') {
    webhook.delivered ??= deps.metrics.webhookCalls.withLabels({ destination, webhook: webhook.label, outcome })
    webhook.delivered.inc()
  } else {
    const labels = { destination, webhook: webhook.label, outcome }
    deps.metrics.webhookCalls.inc(labels)
    reportActionableFailure(deps, labels, webhook, result)
  }
  const { retryAfter, status } = result.kind === 'answered' ? result : noAnswer
  return { webhook, outcome, retryAfter, status }
}

function reportActionableFailure(
  { metrics, logger, observer, logProxyFailure }: AttemptDeps,
  { outcome, ...labels }: { readonly destination: string; readonly webhook: string; readonly outcome: Outcome },
  webhook: PreparedWebhook,
  result: CallResult,
): void {
  if (result.kind === 'answered' && result.status === 410) {
    metrics.webhooksGone.inc(labels)
    observer.gone(labels.destination, webhook)
    logger.warn(
      labels,
      'endpoint responded with 410 Gone; ask its owner whether it was removed permanently; if so, remove the webhook from the configuration',
    )
  }
  if (outcome === 'proxy') logProxyFailure(labels, result as Extract<CallResult, { kind: 'failed' }>)
  if (outcome === 'tls_untrusted' || outcome === 'blocked_address' || outcome === 'internal') {
    const { code, detail } = result as Extract<CallResult, { kind: 'failed' }>
    logger.error({ ...labels, outcome, code, detail }, unsent[outcome])
  }
}

const unsent = {
  tls_untrusted:
    'request not sent: the certificate of the endpoint is not trusted (see "detail"); if a private CA issued the certificate, add this CA to network.caFile; if the destination has tls.caFile or tls.ca, add the CA there instead',
  blocked_address:
    'request not sent: the address or port of the endpoint is not allowed (see "detail"); to allow a private address, add it to network.allow; to allow a port, add it to network.ports',
  internal: 'request failed because of a bug in hookline (report this line)',
} as const

const noLabels = {}
const noAnswer = { retryAfter: undefined, status: undefined }

const traceCall = (tracer: Tracer, parent: TraceContext, { label }: Webhook): Span =>
  tracer.start({
    name: 'POST',
    kind: 'client',
    facts: { 'http.request.method': 'POST', 'hookline.webhook': label },
    parent,
  })

/**
 * Adds the trace headers of the request's span. The trace headers of the Kafka record are never
 * sent.
 */
const withTraceHeaders = (call: WebhookCall, webhook: Webhook, span: Span): WebhookCall =>
  webhook.traceHeaders ? { ...call, headers: { ...call.headers, ...traceHeaders(span.context) } } : call

function endCall(span: Span, result: CallResult, { outcome }: CallOutcome): void {
  const facts = result.kind === 'answered' ? { 'http.response.status_code': result.status } : {}
  span.end(facts, outcome === 'delivered' ? undefined : outcome)
}
