import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'

/** Spans are sent together. */
const sendEveryMs = 1_000
/** Spans that wait to be sent. The processor of the SDK would drop what is beyond it without a word. */
export const mostWaiting = 2_048
const tellEveryMs = 60_000

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'spansLost'>
}

type LossReason = 'queue_full' | 'not_sent'

/** Hands spans to `exporter` in the background. What is lost on the way is counted, and told in the log once a minute at most. */
export function createBatches(exporter: SpanExporter, deps: Deps): SpanProcessor {
  const lose = createLose(deps)
  let waiting = 0
  const watched: SpanExporter = {
    export(spans, onResult) {
      waiting -= spans.length
      exporter.export(spans, result => {
        // 0 is success: @opentelemetry/core, which is not ours to import.
        if (result.code !== 0) lose('not_sent', spans.length, result.error?.message ?? 'unknown')
        onResult(result)
      })
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
  const batches = new BatchSpanProcessor({
    exporter: watched,
    scheduledDelayMillis: sendEveryMs,
    maxQueueSize: mostWaiting,
  })
  return {
    onStart: (span, context) => batches.onStart(span, context),
    onEnd(span) {
      if (waiting === mostWaiting) return lose('queue_full', 1, `${mostWaiting} wait to be sent`)
      waiting += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}

function createLose({ clock, logger, metrics }: Deps) {
  let untold = 0
  let toldAt = Number.NEGATIVE_INFINITY
  // There from the start: a rate sees no increase in what appears as more than 0.
  for (const reason of ['queue_full', 'not_sent'] as const) metrics.spansLost.inc({ reason }, 0)
  return (reason: LossReason, spans: number, error: string): void => {
    metrics.spansLost.inc({ reason }, spans)
    untold += spans
    if (clock.monotonic() - toldAt < tellEveryMs) return
    logger.warn({ spans: untold, reason, error }, 'spans are lost')
    toldAt = clock.monotonic()
    untold = 0
  }
}
