import type { Attempt, CallOutcome } from '../../core/delivery/decide.ts'
import { classify, type Outcome } from '../../core/delivery/outcome.ts'
import type { Places } from '../../core/delivery/places.ts'
import { callsOf } from '../../core/delivery/request.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { CallResult, Clock, Logger, WebhookCall, WebhookTransport } from '../../core/ports.ts'
import type { Destination, PayloadSettings, Webhook } from '../../core/settings.ts'
import { keptTraceIdOf, traceHeaders } from '../../core/trace/context.ts'
import type { Span, TraceContext, Tracer } from '../../core/trace/tracer.ts'
import type { Delivery } from './delivery.ts'

interface Deps {
  readonly transport: WebhookTransport
  readonly places: Places
  readonly payload: () => PayloadSettings
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  /** A call has ended and its place is free. */
  readonly onCallEnd: () => void
  readonly tracer?: Tracer | undefined
}

/**
 * Makes one attempt: a call to each of `webhooks`, in parallel. `onEnd` is called once, at the first success or when all calls
 * have ended without one (A4.1); the calls still under way then run out and are only counted. Without webhooks (a live edit
 * left only those that refused this delivery) it ends at once.
 */
export type MakeAttempt = (
  delivery: Delivery,
  destination: Destination,
  webhooks: readonly Webhook[],
  leftOut: number,
  /** Of the attempt, which calls are part of; undefined without traces. */
  trace: TraceContext | undefined,
  onEnd: (attempt: Attempt) => void,
) => void

export function createAttempts(deps: Deps): MakeAttempt {
  const { transport, places, clock, metrics, tracer } = deps

  return (delivery, destination, webhooks, leftOut, trace, onEnd) => {
    const at = clock.now()
    const calls = callsOf({
      destination,
      webhooks,
      body: delivery.body,
      messageId: delivery.carried.messageId,
      at,
      payload: deps.payload(),
    })
    const outcomes: (CallOutcome | undefined)[] = []
    const traceId = trace && keptTraceIdOf(trace)
    let underWay = calls.length
    let hasEnded = false
    const end = (): void => {
      hasEnded = true
      const ended = outcomes.filter(outcome => outcome !== undefined)
      onEnd({ number: delivery.carried.attempt + 1, at, calls: ended, leftOut })
    }
    if (calls.length === 0) return end()
    for (let index = 0; index < calls.length; index++) {
      const webhook = webhooks[index] as Webhook
      places.take(destination.id, webhook)
      const startedAt = clock.monotonic()
      const call = calls[index] as WebhookCall
      const span = tracer && trace && traceCall(tracer, trace, webhook)
      transport.post(span === undefined ? call : tellTrace(call, webhook, span), result => {
        places.release(destination.id, webhook)
        metrics.webhookCallSeconds.observe(noLabels, (clock.monotonic() - startedAt) / 1000, traceId)
        const outcome = noteOutcome(destination, webhook, result)
        outcomes[index] = outcome
        if (span !== undefined) endCall(span, result, outcome)
        underWay--
        if (!hasEnded && (outcome.outcome === 'delivered' || underWay === 0)) end()
        deps.onCallEnd()
      })
    }
  }

  function noteOutcome(destination: Destination, webhook: Webhook, result: CallResult): CallOutcome {
    const outcome = classify(result)
    metrics.webhookCalls.inc({ destination: destination.id, webhook: webhook.label, outcome })
    if (outcome !== 'delivered')
      tellWhatNeedsAHand({ destination: destination.id, webhook: webhook.label }, outcome, result)
    return { webhook, outcome, retryAfter: result.kind === 'answered' ? result.retryAfter : undefined }
  }

  function tellWhatNeedsAHand(
    labels: { readonly destination: string; readonly webhook: string },
    outcome: Outcome,
    result: CallResult,
  ): void {
    if (result.kind === 'answered' && result.status === 410) {
      metrics.webhooksGone.inc(labels)
      deps.logger.warn(labels, 'endpoint answered 410: gone for good; remove it from the configuration')
    }
    if (outcome === 'tls_untrusted' || outcome === 'blocked_address' || outcome === 'internal') {
      const { code, detail } = result as Extract<CallResult, { kind: 'failed' }>
      deps.logger.error({ ...labels, outcome, code, detail }, 'call not possible')
    }
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
const tellTrace = (call: WebhookCall, webhook: Webhook, span: Span): WebhookCall =>
  webhook.traceHeaders ? { ...call, headers: { ...call.headers, ...traceHeaders(span.context) } } : call

function endCall(span: Span, result: CallResult, { outcome }: CallOutcome): void {
  const facts = result.kind === 'answered' ? { 'http.response.status_code': result.status } : {}
  span.end(facts, outcome === 'delivered' ? undefined : outcome)
}
