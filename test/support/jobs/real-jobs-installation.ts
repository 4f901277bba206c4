import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { until } from '../kafka/admin.ts'
import { operatorKey } from '../operator/scripted-deletion-and-audience-api.ts'
import { askObjects, type ObjectAnswer } from '../operator/send-operator-api-request.ts'
import { startInstallation, type TestInstallation } from '../process/test-installation.ts'

export const operatorSettings = {
  delivery: { schedule: ['1s'] },
  operator: { listen: '127.0.0.1:0', keys: [{ name: 'ada', role: 'operate', key: operatorKey }] },
} as const

export interface JobsInstallation extends TestInstallation {
  operator(): Promise<RunningService>
  dispatcher(): Promise<RunningService>
}

/** Starts an installation in which each process runs one service. */
export async function startJobsInstallation(config: object): Promise<JobsInstallation> {
  const installation = await startInstallation({ ...operatorSettings, ...config })
  return {
    ...installation,
    operator: () => installation.run({}, ['--services', 'operator']),
    dispatcher: () => installation.run({}, ['--services', 'dispatcher']),
  }
}

export const ask = (operator: RunningService, line: string, body?: unknown): Promise<ObjectAnswer> =>
  askObjects({ url: operator.operator! }, line, body)

// biome-ignore lint/suspicious/noExplicitAny: tests look into jobs of both kinds.
type ShownJob = any

/** Returns the path of the new job. */
export async function createJob(operator: RunningService, path: string, body: unknown): Promise<string> {
  const { status, body: job } = await ask(operator, `POST ${path}`, body)
  if (status !== 202) throw new Error(`POST ${path}: ${status} ${JSON.stringify(job)}`)
  return `${path}/${job.id}`
}

/** Polls a job until `is` returns true for it. */
export const untilJob = (operator: RunningService, path: string, is: (job: ShownJob) => boolean): Promise<ShownJob> =>
  until(async () => {
    const { status, body } = await ask(operator, `GET ${path}`)
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`)
    return is(body) ? body : undefined
  })

export const hasEnded = ({ state }: ShownJob): boolean => state !== 'waiting' && state !== 'running'
