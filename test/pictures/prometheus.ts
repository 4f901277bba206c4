import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { findPrometheus } from '../../deploy/tools/local/prometheus.ts'
import { type Server, startServer } from './server.ts'

/** Seconds between two scrapes, and between two evaluations of the rules. */
export const scrapeEverySeconds = 5

/** A real Prometheus with the rules as they are delivered. */
export interface Prometheus extends Server {
  /** From now on it scrapes this process too. `address`: host and port. */
  scrape(instance: string, address: string): Promise<void>
}

export async function startPrometheus(): Promise<Prometheus> {
  const { server: command } = await findPrometheus()
  const scraped = new Map<string, string>()
  let targets = ''
  const server = await startServer(async (directory, port) => {
    targets = join(directory, 'targets.json')
    const configuration = join(directory, 'prometheus.yaml')
    const every = `${scrapeEverySeconds}s`
    await writeFile(
      configuration,
      stringify({
        global: { scrape_interval: every, evaluation_interval: every },
        rule_files: ['recording', 'alerts'].map(name =>
          join(import.meta.dirname, `../../deploy/helm/hookline/files/rules/${name}.yaml`),
        ),
        scrape_configs: [{ job_name: 'hookline', file_sd_configs: [{ files: [targets], refresh_interval: '1s' }] }],
      }),
    )
    return {
      name: 'Prometheus',
      command,
      args: [
        `--config.file=${configuration}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      readyAt: '/-/ready',
    }
  })
  return {
    ...server,
    async scrape(instance, address) {
      scraped.set(instance, address)
      const groups = [...scraped].map(([name, target]) => ({
        targets: [target],
        labels: { instance: name, namespace: 'shop' },
      }))
      // In one go: it may be read at any time.
      await writeFile(`${targets}.new`, JSON.stringify(groups))
      await rename(`${targets}.new`, targets)
    },
  }
}
