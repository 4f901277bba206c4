import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { startGuarded, tailOf } from '../../deploy/local/guarded-process.ts'
import { freePorts } from '../../deploy/local/ports.ts'
import { findPrometheus } from '../../deploy/local/prometheus.ts'
import { until } from './kafka-admin.ts'
import { alerts, type Rule, recordings } from './prometheus-rules.ts'

/** A series of an answer, with its value as of now. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A real Prometheus that scrapes and evaluates every second. */
export interface LivePrometheus {
  /** @throws what Prometheus has against the expression. */
  query(expr: string): Promise<readonly Sample[]>
  /** The alerts that fire now. */
  firing(): Promise<ReadonlySet<string>>
  close(): Promise<void>
}

/** The name under which it knows what it scrapes. */
export const scraped = { job: 'hookline', namespace: 'test' } as const

/** `target`: host and port. Alerts do not wait for their `for`: a test has no fifteen minutes. */
export async function startPrometheus(target: string): Promise<LivePrometheus> {
  const { server } = await findPrometheus()
  const directory = await mkdtemp(join(tmpdir(), 'hookline-prometheus-'))
  const port = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  await writeFile(join(directory, 'rules.yaml'), stringify({ groups: groupsOf([...recordings, ...alerts]) }))
  await writeFile(
    join(directory, 'prometheus.yaml'),
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        { job_name: scraped.job, static_configs: [{ targets: [target], labels: { namespace: scraped.namespace } }] },
      ],
    }),
  )
  const log = join(directory, 'prometheus.log')
  const args = [
    `--config.file=${join(directory, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const running = startGuarded({ command: server, args, output: { file: log }, throwAwayDir: directory })
  const isReady = async (): Promise<true | undefined> =>
    (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok ? true : undefined
  const died = running.ended.then(async how => {
    throw new Error(`Prometheus has ended with ${how}:\n${await tailOf(log)}`)
  })
  await Promise.race([until(isReady), died])
  died.catch(() => undefined)

  async function query(expr: string): Promise<readonly Sample[]> {
    const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr })}`)
    const answer = (await response.json()) as Answer
    if (answer.status !== 'success') throw new Error(`${expr}: ${answer.error}`)
    return answer.data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
  }

  return {
    query,
    firing: async () => {
      const firing = await query('ALERTS{alertstate="firing"}')
      return new Set(firing.map(({ labels }) => labels['alertname'] ?? ''))
    },
    close: async () => {
      await running.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

type Answer =
  | { readonly status: 'error'; readonly error: string }
  | {
      readonly status: 'success'
      readonly data: { readonly result: readonly { metric: Record<string, string>; value: [number, string] }[] }
    }

function groupsOf(rules: readonly Rule[]): object[] {
  return [...Map.groupBy(rules, ({ group }) => group)].map(([name, own]) => ({
    name,
    rules: own.map(({ group: _, for: _for, ...rule }) => rule),
  }))
}
