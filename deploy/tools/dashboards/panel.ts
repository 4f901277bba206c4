import type {
  FieldDefaults,
  LineStyle,
  Link,
  Override,
  PanelModel,
  PanelOptions,
  Query as QueryModel,
  Threshold,
  Transformation,
} from './grafana-types.ts'

/** Units of the panels, named as in Grafana. */
export type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'cps' | 'none' | 'dateTimeFromNow'

export interface Query {
  /** The query in PromQL, with Grafana's variables. */
  readonly expr: string
  /** The legend, with Grafana's `{{label}}` placeholders. */
  readonly legend: string
}

/** The properties of a panel that differ between panels. */
export interface Panel {
  readonly title: string
  /** What the panel shows and how to judge it. */
  readonly description: string
  readonly unit: Unit
  /**
   * `number`: the last value in large type. `lines`: over time. `table`: the last values by label.
   */
  readonly as: 'number' | 'lines' | 'table'
  readonly queries: readonly Query[]
  /** Width in columns; the grid has 24. */
  readonly width: number
  /** Red values: those above `from` or, with `when: 'below'`, those below it. */
  readonly bad?: { readonly from: number; readonly when?: 'above' | 'below' }
  /** Stacked lines, for series whose sum is meaningful. */
  readonly isStacked?: boolean
  /** Upper end of the axis. If undefined, Grafana chooses it. */
  readonly max?: number
  /** Colours by series name. All other series use Grafana's palette. */
  readonly colours?: Readonly<Record<string, string>>
  /**
   * Page of the console to which each series links. All series must have the label `destination`.
   */
  readonly link?: 'destination' | 'dead letters'
  /** Heading of the value column of a table. */
  readonly values?: string
}

export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

/** The data source that is selected in the dashboard. */
export const datasource = { type: 'prometheus', uid: '$datasource' }
const types = { number: 'stat', lines: 'timeseries', table: 'table' } as const
export const heights = { number: 4, lines: 8, table: 8 } as const

interface Place {
  readonly x: number
  readonly y: number
  readonly h: number
}

/** Builds the panel in Grafana's classic model. */
export function panelJson(panel: Panel, id: number, place: Place): PanelModel {
  const { title, description, as, width, colours = {}, values } = panel
  return {
    id,
    type: types[as],
    title,
    description,
    datasource,
    gridPos: { ...place, w: width },
    targets: panel.queries.map((query, index) => targetOf(query, index, as)),
    fieldConfig: { defaults: defaultsOf(panel), overrides: Object.entries(colours).map(overrideOf) },
    options: options[types[as]],
    ...(as === 'table' && { transformations: [columns(values)] }),
  }
}

function targetOf({ expr, legend }: Query, index: number, as: Panel['as']): QueryModel {
  const target: QueryModel = {
    refId: String.fromCharCode(65 + index),
    datasource,
    expr,
    legendFormat: legend,
    range: as === 'lines',
  }
  if (as === 'lines') return target
  return { ...target, instant: true, ...(as === 'table' && { format: 'table' }) }
}

const overrideOf = ([name, fixedColor]: readonly [string, string]): Override => ({
  matcher: { id: 'byNames', options: { mode: 'include', names: [name] } },
  properties: [{ id: 'color', value: { mode: 'fixed', fixedColor } }],
})

/** A table shows only the current values, so its time column is hidden. */
const columns = (values = 'Value'): Transformation => ({
  id: 'organize',
  options: { excludeByName: { Time: true }, indexByName: {}, renameByName: { Value: values } },
})

function defaultsOf(panel: Panel): FieldDefaults {
  const { unit, as, bad, max, link } = panel
  return {
    unit,
    color: { mode: as === 'number' ? 'thresholds' : 'palette-classic' },
    thresholds: { mode: 'absolute', steps: stepsOf(bad) },
    ...(link !== undefined && { links: [linkOf(link, as)] }),
    ...(max !== undefined && { min: 0, max }),
    // Table values are counts, so they have no decimals.
    ...(as === 'table' && { decimals: 0 }),
    ...(as === 'lines' && { custom: lineStyleOf(panel) }),
  }
}

export const externalLink = (title: string, url: string): Link => ({
  type: 'link',
  title,
  tooltip: '',
  icon: 'external link',
  url,
  tags: [],
  asDropdown: false,
  targetBlank: true,
  keepTime: false,
  includeVars: false,
})

/** Grafana replaces the variables in the link. */
function linkOf(link: NonNullable<Panel['link']>, as: Panel['as']): Link {
  const id = `\${${as === 'table' ? '__data.fields' : '__field.labels'}.destination}`
  const path = link === 'destination' ? `destinations/${id}` : `dead-letters?destination=${id}`
  return externalLink(`Open the ${link} in the console`, `\${console}console/${path}`)
}

const lineStyleOf = ({ bad, isStacked = false }: Panel): LineStyle => ({
  drawStyle: 'line',
  lineWidth: 1,
  fillOpacity: isStacked ? 20 : 0,
  showPoints: 'never',
  spanNulls: false,
  // The axis starts at zero, so that small values look small.
  axisSoftMin: 0,
  stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
  thresholdsStyle: { mode: bad === undefined ? 'off' : 'dashed' },
})

function stepsOf(bad: Panel['bad']): readonly Threshold[] {
  if (bad === undefined) return [{ color: 'green', value: null }]
  const [low, high] = bad.when === 'below' ? (['red', 'green'] as const) : (['green', 'red'] as const)
  return [
    { color: low, value: null },
    { color: high, value: bad.from },
  ]
}

const options: PanelOptions = {
  stat: {
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    colorMode: 'value',
    graphMode: 'none',
    textMode: 'auto',
    justifyMode: 'auto',
    orientation: 'auto',
    wideLayout: true,
    showPercentChange: false,
    percentChangeColorMode: 'standard',
  },
  timeseries: {
    legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  table: { showHeader: true, frameIndex: 0 },
}
