import { type Dashboard, dashboardJson } from './dashboard.ts'
import { destinations } from './dashboards/destinations.ts'
import { kafka } from './dashboards/kafka.ts'
import { overview } from './dashboards/overview.ts'
import { runtime } from './dashboards/runtime.ts'

export const dashboards: readonly Dashboard[] = [overview, destinations, kafka, runtime]

/** File name → JSON, as Grafana imports it. */
export const dashboardFiles = (): ReadonlyMap<string, string> =>
  new Map(dashboards.map(each => [`${each.uid}.json`, `${JSON.stringify(dashboardJson(each), null, 2)}\n`]))
