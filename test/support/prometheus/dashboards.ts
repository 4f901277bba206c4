import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../../deploy/helm/hookline/files/dashboards')

/** The checked fields of a Grafana panel. */
export interface PanelJson {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  readonly fieldConfig?: {
    readonly defaults: { readonly unit?: string; readonly links?: readonly { readonly url: string }[] }
  }
}

export interface DashboardJson {
  readonly uid: string
  readonly title: string
  readonly editable: boolean
  readonly schemaVersion: number
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
  readonly links: readonly { readonly url: string }[]
  readonly annotations: { readonly list: readonly { readonly expr: string }[] }
  readonly panels: readonly PanelJson[]
}

/** The committed dashboards. */
export const dashboards: readonly DashboardJson[] = readdirSync(folder)
  .filter(file => file.endsWith('.json'))
  .map(file => JSON.parse(readFileSync(join(folder, file), 'utf8')) as DashboardJson)

/** All panels that show data, each with its dashboard. */
export const shownPanels: readonly {
  readonly name: string
  readonly dashboard: DashboardJson
  readonly panel: PanelJson
}[] = dashboards.flatMap(dashboard =>
  dashboard.panels
    .filter(({ type }) => type !== 'row')
    .map(panel => ({ name: `${dashboard.uid}: ${panel.title}`, dashboard, panel })),
)
