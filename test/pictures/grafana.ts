import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { scrapeEverySeconds } from './prometheus.ts'
import { type Server, startServer } from './server.ts'

const dashboards = join(import.meta.dirname, '../../deploy/helm/hookline/files/dashboards')

/** A real Grafana with the dashboards as they are delivered; whoever reaches it may look. */
export interface Grafana extends Server {
  readonly version: string
}

/** `home`: where an archive of Grafana was unpacked; `bin/grafana`, `conf` and `public` are in it. `source`: the URL of Prometheus. */
export async function startGrafana(home: string, source: string): Promise<Grafana> {
  const server = await startServer(async (directory, port) => ({
    name: 'Grafana',
    command: join(home, 'bin/grafana'),
    args: ['server', '--homepath', home],
    env: {
      GF_SERVER_HTTP_ADDR: '127.0.0.1',
      GF_SERVER_HTTP_PORT: String(port),
      GF_PATHS_PROVISIONING: await provision(directory, source),
      GF_PATHS_DATA: join(directory, 'data'),
      GF_PATHS_LOGS: join(directory, 'logs'),
      GF_PATHS_PLUGINS: join(directory, 'plugins'),
      GF_AUTH_ANONYMOUS_ENABLED: 'true',
      GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
      GF_USERS_DEFAULT_THEME: 'light',
      // Nobody logs in. When a second ends while Grafana 10.0 makes one, it takes the organization that it has just made for none, and gives up.
      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
      // It asks nobody for anything, and keeps no connection to the browser: a page is done when its queries are.
      GF_ANALYTICS_REPORTING_ENABLED: 'false',
      GF_ANALYTICS_CHECK_FOR_UPDATES: 'false',
      GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES: 'false',
      GF_NEWS_NEWS_FEED_ENABLED: 'false',
      GF_SECURITY_DISABLE_GRAVATAR: 'true',
      GF_LIVE_MAX_CONNECTIONS: '0',
    },
    readyAt: '/api/health',
  }))
  const { version } = (await (await fetch(`${server.url}/api/health`)).json()) as { readonly version: string }
  return { ...server, version }
}

/** The data source, and where the dashboards are. */
async function provision(directory: string, source: string): Promise<string> {
  const provisioning = join(directory, 'provisioning')
  const prometheus = {
    ...{ name: 'Prometheus', uid: 'prometheus', type: 'prometheus', access: 'proxy', isDefault: true, url: source },
    jsonData: { timeInterval: `${scrapeEverySeconds}s` },
  }
  const files = {
    datasources: { datasources: [prometheus] },
    dashboards: { providers: [{ name: 'Hookline', type: 'file', options: { path: dashboards } }] },
  }
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(provisioning, name), { recursive: true })
    await writeFile(join(provisioning, name, 'hookline.yaml'), stringify({ apiVersion: 1, ...content }))
  }
  return provisioning
}
