import { systemClock } from '../../../src/adapters/clock/clock.ts'
import { createOperatorServer } from '../../../src/adapters/http/operator-server.ts'
import type { HttpLimits } from '../../../src/adapters/http/server-limits.ts'
import { createMetrics } from '../../../src/adapters/metrics/metrics.ts'
import type { TrackingApi } from '../../../src/core/collector/tracking-api.ts'
import type { ObjectsApi } from '../../../src/core/operator/objects-api.ts'
import type { OperatorApi } from '../../../src/core/operator/operator-api.ts'
import type { FindOperatorKey } from '../../../src/core/operator/operator-keys.ts'
import type { Clock, Logger } from '../../../src/core/ports.ts'
import type { PublishedKeys } from '../../../src/core/signing/signing-key.ts'
import type { Tracer } from '../../../src/core/trace/tracer.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { objectsApi } from './objects-api.ts'
import { findOperatorKey } from './scripted-operator-api.ts'

interface Options {
  readonly objects?: ObjectsApi
  readonly findKey?: () => FindOperatorKey
  readonly publishedKeys?: PublishedKeys
  readonly limits?: Partial<HttpLimits>
  readonly maxBodyBytes?: number
  readonly memory?: Pick<TrackingApi, 'reserve' | 'release'>
  readonly clock?: Clock
  readonly logger?: Logger
  readonly tracer?: Tracer | undefined
}

/** Starts the listener of the operator API with this API, on a free port. */
export async function startOperator(api: OperatorApi, options: Options = {}) {
  const { metrics, text } = createMetrics()
  const audited: object[] = []
  const server = createOperatorServer({
    listen: { host: '127.0.0.1', port: 0 },
    objects: options.objects ?? (await objectsApi()),
    ...{ api, metrics, clock: systemClock, logger: silent, findKey: () => findOperatorKey },
    publishedKeys: async () => ({ keys: [] }),
    audit: line => void audited.push(line),
    ...options,
  })
  const url = await server.start()
  return {
    url,
    stop: server.stop,
    /** The lines of the audit log. */
    audited,
    /** Number of responses by code. */
    async answered(): Promise<Readonly<Record<string, number>>> {
      const lines = (await text()).matchAll(/^hookline_operator_answers_total\{code="(\w+)"\} (\d+)$/gm)
      return Object.fromEntries([...lines].map(([, code = '', count]) => [code, Number(count)]))
    },
  }
}
