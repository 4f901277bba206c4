import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { findPrometheus } from '../../../deploy/tools/local/find-prometheus.ts'
import { freePorts } from '../../../deploy/tools/local/free-ports.ts'
import { startGuarded, tailOf } from '../../../deploy/tools/local/guarded-process.ts'
import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { until } from '../kafka/admin.ts'
import { accelerate } from './accelerated-rules.ts'
import { alerts, type Rule, recordings } from './rules.ts'

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Target {
  /**
   * The label `instance`. A restarted process keeps it, as a pod keeps its name when its container
   * restarts.
   */
  readonly instance: string
  readonly job: string
  readonly address: string
  /** Scrape interval and timeout, in seconds. By default 1. */
  readonly every?: number
}

/** An alert as `GET /api/v1/alerts` of Prometheus returns it. */
export interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>>
  readonly state: 'pending' | 'firing'
  readonly value: string
}

/**
 * A real Prometheus server, which scrapes targets and evaluates accelerated rules
 * (`accelerated-rules.ts`) every second.
 */
export interface LivePrometheus {
  /** Adds a target, or replaces the one with this instance. */
  scrape(target: Target): Promise<void>
  /** @throws the error of Prometheus about the expression */
  query(expr: string): Promise<readonly Sample[]>
  active(): Promise<readonly ActiveAlert[]>
  close(): Promise<void>
}

export async function startPrometheus(): Promise<LivePrometheus> {
  const { server } = await findPrometheus()
  const directory = await mkdtemp(join(tmpdir(), 'hookline-prometheus-'))
  const port = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const targets = join(directory, 'targets.json')
  await writeFile(targets, '[]')
  await writeFile(join(directory, 'rules.yaml'), stringify({ groups: groupsOf([...recordings, ...alerts]) }))
  await writeFile(
    join(directory, 'prometheus.yaml'),
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [{ job_name: 'hookline', file_sd_configs: [{ files: [targets], refresh_interval: '1s' }] }],
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

  async function ask<T>(path: string): Promise<T> {
    const answer = (await (await fetch(url + path)).json()) as Answer<T>
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }

  const scraped = new Map<string, Target>()
  let written: Promise<unknown> = Promise.resolve()
  async function write(): Promise<void> {
    const groups = [...scraped.values()].map(({ instance, job, address, every = 1 }) => {
      const pace = { __scrape_interval__: `${every}s`, __scrape_timeout__: `${every}s` }
      return { targets: [address], labels: { instance, job, namespace: 'test', ...pace } }
    })
    // Atomic, because Prometheus can read the file at any time.
    await writeFile(`${targets}.new`, JSON.stringify(groups))
    await rename(`${targets}.new`, targets)
  }

  return {
    scrape: target => {
      scraped.set(target.instance, target)
      const done = written.then(write)
      written = done.catch(() => undefined)
      return done
    },
    query: async expr => {
      const { result } = await ask<QueryResult>(`/api/v1/query?${new URLSearchParams({ query: expr })}`)
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
    },
    active: async () => (await ask<{ alerts: readonly ActiveAlert[] }>('/api/v1/alerts')).alerts,
    close: async () => {
      await running.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

type Answer<T> = { readonly status: 'error'; readonly error: string } | { readonly status: 'success'; readonly data: T }

interface QueryResult {
  readonly result: readonly { metric: Record<string, string>; value: [number, string] }[]
}

function groupsOf(rules: readonly Rule[]): object[] {
  return [...Map.groupBy(rules, ({ group }) => group)].map(([name, own]) => ({
    name,
    rules: own.map(({ group: _, ...rule }) => accelerate(rule)),
  }))
}

/** The `host:port` at which a service serves its metrics. */
export function opsOf({ ready }: RunningService): string {
  const url = /\bops=(\S+)/.exec(ready)?.[1]
  if (url === undefined) throw new Error(`a service says nowhere where its metrics are: ${ready}`)
  return new URL(url).host
}
