import type {
  Annotation,
  DashboardModel,
  Link,
  PanelModel,
  RowModel,
  Variable as VariableModel,
} from './grafana-types.ts'
import { datasource, externalLink, heights, type Panel, panelJson, type Row } from './panel.ts'

/** A dashboard variable that selects values of one label. */
export interface Variable {
  readonly name: string
  readonly label: string
  /** A metric that has the label. */
  readonly of: string
}

export interface Dashboard {
  /** The id in the dashboard's URL. It must never change, because bookmarks contain this URL. */
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly variables: readonly Variable[]
  readonly rows: readonly Row[]
}

/** The variables of every dashboard. `All` also matches series without the variable's label. */
export const installation: readonly Variable[] = [
  { name: 'namespace', label: 'Namespace', of: 'hookline_build_info' },
  { name: 'job', label: 'Job', of: 'hookline_build_info' },
]

/** Builds the dashboard in Grafana's classic model, which all versions from 10 on can import. */
export function dashboardJson({ uid, title, description, variables, rows }: Dashboard): DashboardModel {
  return {
    uid,
    title,
    description,
    tags: ['hookline'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    refresh: '30s',
    links: [others, externalLink('Console', `\${console}console/`)],
    annotations: { list: [alerts] },
    templating: { list: [datasourceVariable, ...variables.map(variableJson), consoleVariable] },
    panels: panelsOf(rows),
  }
}

const others: Link = {
  type: 'dashboards',
  title: 'Hookline',
  tooltip: 'Other Hookline dashboards',
  icon: 'dashboard',
  url: '',
  tags: ['hookline'],
  asDropdown: true,
  targetBlank: false,
  keepTime: true,
  includeVars: true,
}

/**
 * The address of the operator service, with a slash at its end. The chart inserts the value
 * `consoleAt` of its values.yaml.
 */
const consoleVariable: VariableModel = {
  name: 'console',
  label: 'Console at',
  type: 'textbox',
  query: 'http://127.0.0.1:8090/',
  hide: 0,
}

/** Annotations at the times when alerts fired. */
const alerts: Annotation = {
  name: 'Alerts',
  datasource,
  enable: true,
  iconColor: 'red',
  expr: 'ALERTS{alertstate="firing",alertname=~"Hookline.*",job=~"$job",namespace=~"$namespace"}',
  titleFormat: '{{alertname}}',
}

const datasourceVariable: VariableModel = {
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  refresh: 1,
  hide: 0,
}

function variableJson({ name, label, of }: Variable): VariableModel {
  const query = `label_values(${of}, ${name})`
  return {
    name,
    label,
    type: 'query',
    datasource,
    definition: query,
    query,
    refresh: 2,
    sort: 1,
    hide: 0,
    multi: true,
    includeAll: true,
    // Also matches series without the label: not every Prometheus sets `namespace`.
    allValue: '.*',
    current: { text: ['All'], value: ['$__all'], selected: true },
  }
}

/** Places panels from left to right. All panels in a line get the height of the highest one. */
function panelsOf(rows: readonly Row[]): readonly (PanelModel | RowModel)[] {
  const panels: (PanelModel | RowModel)[] = []
  let y = 0
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: 24, x: 0, y },
    })
    y += 1
    for (const line of linesOf(row.panels)) {
      const h = Math.max(...line.map(({ as }) => heights[as]))
      let x = 0
      for (const panel of line) {
        panels.push(panelJson(panel, panels.length + 1, { x, y, h }))
        x += panel.width
      }
      y += h
    }
  }
  return panels
}

/** Splits panels into lines that fit the width of the grid. */
function linesOf(panels: readonly Panel[]): readonly (readonly Panel[])[] {
  const lines: Panel[][] = []
  let left = 0
  for (const panel of panels) {
    if (panel.width > left) {
      lines.push([])
      left = 24
    }
    lines.at(-1)?.push(panel)
    left -= panel.width
  }
  return lines
}
