import { compactJson } from '../json-and-yaml-text.ts'
import { type Dashboard, dashboardJson } from './dashboard.ts'
import { destinations } from './destinations.ts'
import { kafka } from './kafka.ts'
import { overview } from './overview.ts'
import { runtime } from './runtime.ts'

export const dashboards: readonly Dashboard[] = [overview, destinations, kafka, runtime]

/** The dashboards as JSON for Grafana's import, by path in the repository. */
export const dashboardFiles = (): ReadonlyMap<string, string> =>
  new Map(
    dashboards.map(each => [
      `deploy/helm/hookline/files/dashboards/${each.uid}.json`,
      compactJson(dashboardJson(each), 2),
    ]),
  )
