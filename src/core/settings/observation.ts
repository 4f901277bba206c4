import { z } from 'zod'
import { duration, httpUrl, id, says } from './fields.ts'

/* What shows from outside how messages fare, besides metrics and the log. */

export const canary = z
  .strictObject({
    destination: id.describe('Id of the destination that gets the heartbeats; its endpoint has to take them.'),
    every: duration
      .refine(every => every >= 1_000, 'must be at least 1s')
      .prefault('30s')
      .describe('How often one is sent, by one process of the installation.'),
  })
  .optional()
  .describe('Heartbeats through the whole pipeline. Absent: none.')

const sampleText = 'must be a number from 0 to 1'
export const traces = z
  .strictObject(
    {
      endpoint: httpUrl
        .optional()
        .describe(
          'Where spans go by OTLP over HTTP; `/v1/traces` follows. Absent: `OTEL_EXPORTER_OTLP_*`, or `http://localhost:4318`.',
        ),
      sample: z
        .number(says(sampleText))
        .min(0, sampleText)
        .max(1, sampleText)
        .default(0.01)
        .describe('Share of the traces that begin here which is kept, 0 to 1. Of others, whoever began them decides.'),
    },
    says('must be a mapping; {} is enough for a collector of traces on this host'),
  )
  .optional()
  .describe('OpenTelemetry traces. Absent: none.')
