import type { Attempt, CallOutcome } from '../../core/delivery/decide.ts'
import { classify, type Outcome } from '../../core/delivery/outcome.ts'
import type { CallMaker } from '../../core/delivery/request.ts'
import type { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { CallResult, Clock, Logger, WebhookCall, WebhookTransport } from '../../core/ports.ts'
import type { Webhook } from '../../core/settings/settings.ts'
import { keptTraceIdOf, traceHeaders } from '../../core/trace/context.ts'
import type { Span, TraceContext, Tracer } from '../../core/trace/tracer.ts'
import type { EpochMs } from '../../core/units.ts'
import type { AttemptTrace } from './attempt-trace.ts'
import type { Delivery, DestinationState } from './delivery.ts'
import type { Callee } from './destination-route.ts'

interface Deps {
  readonly transport: WebhookTransport
  readonly limiter: ConcurrencyLimiter
  readonly clock: Pick<Clock, 'monotonic'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** A call of the queue has ended and its place is free. */
  readonly onCallEnd: (target: DestinationState) => void
  /** Undefined: attempts are not traced. */
  readonly tracer: Tracer | undefined
}

/** An attempt as it begins. */
export interface BegunAttempt {
  readonly delivery: Delivery
  readonly callMaker: CallMaker
  /** To be called, each at once. */
  readonly webhooks: readonly Callee[]
  /** Webhooks not called because no permit is free. */
  readonly leftOut: number
  /** Whether one of these is left out because other destinations hold the permits. */
  readonly isHeldUpByOthers: boolean
  readonly at: EpochMs
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Its end tells the breaker of the destination whether it may close. */
  readonly isProbe: boolean
  /** Undefined without traces. */
  readonly trace: AttemptTrace | undefined
}

/** An attempt has ended: at the first success, or when all calls have ended without one (A4.1). */
export type OnAttemptEnd = (begun: BegunAttempt, attempt: Attempt) => void

/**
 * Makes one attempt: a call to each of its webhooks, in parallel. `onEnd` is called once; the calls still under way then run out and are only
 * counted. Without webhooks (a live edit left only those that refused this delivery) it ends at once.
 */
export type MakeAttempt = (begun: BegunAttempt, onEnd: OnAttemptEnd) => void

export function createAttempts(deps: Deps): MakeAttempt {
  return (begun, onEnd) => new AttemptInProgress(deps, begun, onEnd).start()
}

/** An object, and not what closures share: with thousands of calls under way whatever each one holds costs the garbage collector its time. */
class AttemptInProgress {
  readonly #deps: Deps
  readonly #begun: BegunAttempt
  readonly #onEnd: OnAttemptEnd
  /** By the place of the webhook; made when the first call has ended. */
  #outcomes: (CallOutcome | undefined)[] | undefined
  #inProgress: number
  #hasEnded = false

  constructor(deps: Deps, begun: BegunAttempt, onEnd: OnAttemptEnd) {
    this.#deps = deps
    this.#begun = begun
    this.#onEnd = onEnd
    this.#inProgress = begun.webhooks.length
  }

  start(): void {
    const { delivery, callMaker, webhooks, at } = this.#begun
    if (webhooks.length === 0) return this.#end()
    const { body, carried } = delivery
    const calls = callMaker.calls(webhooks, { body, messageId: carried.messageId, at })
    for (let index = 0; index < calls.length; index++) this.#call(index, calls[index] as WebhookCall)
  }

  #call(index: number, call: WebhookCall): void {
    const { transport, limiter, tracer } = this.#deps
    const { delivery, webhooks, trace } = this.#begun
    const webhook = webhooks[index] as Callee
    limiter.acquire(delivery.target, webhook.permits)
    const span = tracer && trace && traceCall(tracer, trace.context, webhook)
    transport.post(span === undefined ? call : withTraceHeaders(call, webhook, span), result =>
      this.#ended(index, result, span),
    )
  }

  #ended(index: number, result: CallResult, span: Span | undefined): void {
    const { limiter, clock, metrics, onCallEnd } = this.#deps
    const { delivery, webhooks, startedAt, trace } = this.#begun
    const webhook = webhooks[index] as Callee
    const endedAt = clock.monotonic()
    const tookMs = endedAt - startedAt
    limiter.ended(delivery.target, webhook.permits, tookMs, endedAt)
    metrics.webhookCallSeconds.observe(noLabels, tookMs / 1000, trace && keptTraceIdOf(trace.context))
    const outcome = noteOutcome(this.#deps, delivery.target, webhook, result)
    this.#outcomes ??= []
    this.#outcomes[index] = outcome
    if (span !== undefined) endCall(span, result, outcome)
    this.#inProgress--
    if (!this.#hasEnded && (outcome.outcome === 'delivered' || this.#inProgress === 0)) this.#end()
    onCallEnd(delivery.target)
  }

  #end(): void {
    const { delivery, at, leftOut, isHeldUpByOthers } = this.#begun
    this.#hasEnded = true
    const calls = (this.#outcomes ?? []).filter(outcome => outcome !== undefined)
    this.#onEnd(this.#begun, { number: delivery.carried.attempt + 1, at, calls, leftOut, isHeldUpByOthers })
  }
}

function noteOutcome(deps: Deps, { destination }: DestinationState, webhook: Callee, result: CallResult): CallOutcome {
  const outcome = classify(result)
  if (outcome === 'delivered') {
    webhook.delivered ??= deps.metrics.webhookCalls.of({ destination, webhook: webhook.label, outcome })
    webhook.delivered.inc()
  } else {
    const labels = { destination, webhook: webhook.label, outcome }
    deps.metrics.webhookCalls.inc(labels)
    reportActionableFailure(deps, labels, result)
  }
  return { webhook, outcome, retryAfter: result.kind === 'answered' ? result.retryAfter : undefined }
}

function reportActionableFailure(
  { metrics, logger }: Deps,
  { outcome, ...labels }: { readonly destination: string; readonly webhook: string; readonly outcome: Outcome },
  result: CallResult,
): void {
  if (result.kind === 'answered' && result.status === 410) {
    metrics.webhooksGone.inc(labels)
    logger.warn(labels, 'endpoint answered 410: gone for good; remove it from the configuration')
  }
  if (outcome === 'tls_untrusted' || outcome === 'blocked_address' || outcome === 'internal') {
    const { code, detail } = result as Extract<CallResult, { kind: 'failed' }>
    logger.error({ ...labels, outcome, code, detail }, 'call not possible')
  }
}

const noLabels = {}

const traceCall = (tracer: Tracer, parent: TraceContext, { label }: Webhook): Span =>
  tracer.start({
    name: 'POST',
    kind: 'client',
    facts: { 'http.request.method': 'POST', 'hookline.webhook': label },
    parent,
  })

/** Only to those who are to be told; what the record's other headers say goes to nobody. */
const withTraceHeaders = (call: WebhookCall, webhook: Webhook, span: Span): WebhookCall =>
  webhook.traceHeaders ? { ...call, headers: { ...call.headers, ...traceHeaders(span.context) } } : call

function endCall(span: Span, result: CallResult, { outcome }: CallOutcome): void {
  const facts = result.kind === 'answered' ? { 'http.response.status_code': result.status } : {}
  span.end(facts, outcome === 'delivered' ? undefined : outcome)
}
