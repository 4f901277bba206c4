import {
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'
import {
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { TracesSettings } from '../../core/settings/settings.ts'
import { durationMs } from '../../core/time.ts'
import { formatTraceparent, parseTraceparent, type TraceContext } from '../../core/trace/context.ts'
import type { Span, SpanStart, Tracer } from '../../core/trace/tracer.ts'
import { within } from '../../core/within-time-limit.ts'
import { createSpanProcessor } from './span-processor.ts'

/** How long `stop` waits for a tracing backend that does not respond. */
const stopLimit = durationMs(2_000)

interface Deps {
  /** For the resource attribute `service.version`. */
  readonly version: string
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'spansLost'>
}

export interface Traces {
  readonly tracer: Tracer
  /** Sends the remaining spans, for at most 2 s. */
  stop(): Promise<void>
}

/**
 * Sends spans to a tracing backend in the background, with OTLP. Lost spans are counted and logged.
 */
export function createTraces({ endpoint, sample }: TracesSettings, deps: Deps): Traces {
  const url = endpoint === undefined ? {} : { url: `${endpoint.replace(/\/+$/, '')}/v1/traces` }
  const processor = createSpanProcessor(new OTLPTraceExporter(url), deps)
  const tracer = createTracer(processor, sample, deps.version)
  return {
    tracer,
    stop() {
      // Ignore the error, because the span processor has already logged the lost spans.
      const sent = processor.shutdown().catch(() => undefined)
      return within(deps.clock, stopLimit, sent, () => undefined)
    },
  }
}

/** Creates the tracer of a process. `sample` is the sampled share of its traces, from 0 to 1. */
export function createTracer(processor: SpanProcessor, sample: number, version: string): Tracer {
  const own = resourceFromAttributes({ 'service.name': 'hookline', 'service.version': version })
  const resource = own.merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }))
  const provider = new TracerProvider({ resource, sampler: samplerOf(sample), spanProcessors: [processor] })
  const tracer = provider.getTracer('hookline', version)

  return {
    start({ name, kind, facts, parent, follows }: SpanStart): Span {
      const before = parent ?? follows
      const spanContext = before && spanContextOf(before)
      // The span `parent` or `follows` was not sampled, so this span is not created. The caller
      // gets the context of that span, so that further spans are not sampled either.
      if (before !== undefined && spanContext?.traceFlags === TraceFlags.NONE) return unsampledSpan(before)
      const isPart = parent !== undefined && spanContext !== undefined
      const links = isPart || spanContext === undefined ? [] : [{ context: spanContext }]
      const context = isPart ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes: facts, links }, context)
      return {
        get context() {
          return contextOf(span.spanContext())
        },
        end(more, error) {
          span.setAttributes(more)
          if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
  }
}

const kinds = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
} as const satisfies Record<SpanStart['kind'], SpanKind>

const unsampledSpan = (context: TraceContext): Span => ({ context, end: () => undefined })

/**
 * Samples a share of the traces that begin in this process. The decision applies to all spans of
 * the trace and all traces linked to it.
 */
function samplerOf(sample: number): Sampler {
  const ratio = new TraceIdRatioBasedSampler(sample)
  const sampled = { decision: SamplingDecision.RECORD_AND_SAMPLED }
  return {
    // `start` creates no span if the parent or a linked span is not sampled. So a span with a
    // parent or a link is always sampled.
    shouldSample: (context, traceId, _name, _kind, _facts, links) =>
      links.length > 0 || trace.getSpanContext(context) !== undefined ? sampled : ratio.shouldSample(context, traceId),
    toString: () => `Beginner{${ratio}}`,
  }
}

function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const parsed = parseTraceparent(traceparent)
  if (parsed === undefined) return undefined
  const { traceId, spanId, isSampled } = parsed
  return {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  }
}

function contextOf({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0
  const tracestate = traceState?.serialize() || undefined
  return { traceparent: formatTraceparent({ traceId, spanId, isSampled }), tracestate }
}
