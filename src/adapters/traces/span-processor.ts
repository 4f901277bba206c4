import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'

/** How often collected spans are sent. */
const sendEveryMs = 1_000
/**
 * Maximum number of spans that wait to be sent. Further spans are discarded here, because the SDK
 * would discard them without a report.
 */
export const maxQueuedSpans = 2_048
const queueFull = `the queue of ${maxQueuedSpans} spans is full: the tracing backend is too slow, or traces.sample is too high`
const logEveryMs = 60_000

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'spansLost'>
}

type LossReason = 'queue_full' | 'not_sent'

/** Exports spans in the background. Lost spans are counted, and logged at most once a minute. */
export function createSpanProcessor(exporter: SpanExporter, deps: Deps): SpanProcessor {
  const reportLoss = createLossReporter(deps)
  let waiting = 0
  const watched: SpanExporter = {
    export(spans, onResult) {
      waiting -= spans.length
      exporter.export(spans, result => {
        // 0: success. The enum `ExportResultCode` is in @opentelemetry/core, which is not a
        // dependency.
        if (result.code !== 0) reportLoss('not_sent', spans.length, result.error?.message ?? 'unknown')
        onResult(result)
      })
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
  const batches = new BatchSpanProcessor({
    exporter: watched,
    scheduledDelayMillis: sendEveryMs,
    maxQueueSize: maxQueuedSpans,
  })
  return {
    onStart: (span, context) => batches.onStart(span, context),
    onEnd(span) {
      if (waiting === maxQueuedSpans) return reportLoss('queue_full', 1, queueFull)
      waiting += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}

function createLossReporter({ clock, logger, metrics }: Deps) {
  let unlogged = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  // Both series begin with 0: if a series began with a higher value, `rate` of Prometheus would not
  // see its first increase.
  for (const reason of ['queue_full', 'not_sent'] as const) metrics.spansLost.inc({ reason }, 0)
  return (reason: LossReason, spans: number, error: string): void => {
    metrics.spansLost.inc({ reason }, spans)
    unlogged += spans
    if (clock.monotonic() - loggedAt < logEveryMs) return
    logger.warn(
      { spans: unlogged, reason, error },
      'this process could not export trace spans and discarded them (see "spans" and "error"): check the tracing backend, and its address in traces.endpoint or in the OTEL_EXPORTER_OTLP_* variables; messages are not affected',
    )
    loggedAt = clock.monotonic()
    unlogged = 0
  }
}
