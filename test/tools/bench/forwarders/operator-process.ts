import { freePorts } from '../../../../deploy/tools/local/free-ports.ts'
import type { Job } from './forwarder.ts'
import { type ReadyProcess, startReady } from './ready-process.ts'

export interface OperatorProcess extends ReadyProcess {
  readonly url: string
}

/**
 * Resolves when the process is ready. The installation must have an `operatorKey`. `destinations`
 * are those of the configuration file.
 */
export async function startOperator(
  job: Job,
  transport: string,
  destinations: readonly object[] = [],
): Promise<OperatorProcess> {
  const listen = `127.0.0.1:${await freePorts(1)}`
  const { operator } = job.installation.base as { readonly operator: object }
  const process = await startReady(job, transport, 'operator', { destinations, operator: { ...operator, listen } })
  return { ...process, url: `http://${listen}` }
}
