import type {
  FieldDefaults,
  LineStyle,
  Override,
  PanelModel,
  PanelOptions,
  Query as QueryModel,
  Threshold,
  Transformation,
} from './grafana.ts'

/** The units that our panels have, by Grafana's names for them. */
export type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'cps' | 'none' | 'dateTimeFromNow'

export interface Query {
  /** PromQL with Grafana's variables in it. */
  readonly expr: string
  /** Grafana's `{{label}}` in it. */
  readonly legend: string
}

/** A panel, as far as it is ours to say; the rest is the same for all of them. */
export interface Panel {
  readonly title: string
  /** What it shows, and what to think of it. */
  readonly description: string
  readonly unit: Unit
  /** `number`: the last value in large type. `lines`: over time. `table`: the last values by their labels. */
  readonly as: 'number' | 'lines' | 'table'
  readonly queries: readonly Query[]
  /** Of 24 columns. */
  readonly width: number
  /** From here on it is red. `below`: below it. */
  readonly bad?: { readonly from: number; readonly when?: 'above' | 'below' }
  /** Lines on top of each other: where the sum says something. */
  readonly isStacked?: boolean
  /** Where the axis ends, for what cannot be more; else as high as the values are. */
  readonly most?: number
  /** Of some series by their names; the others have those of Grafana's palette. */
  readonly colours?: Readonly<Record<string, string>>
  /** The heading of the values in a table. */
  readonly values?: string
}

export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

/** The one that is chosen at the top of the dashboard. */
export const datasource = { type: 'prometheus', uid: '$datasource' }
const types = { number: 'stat', lines: 'timeseries', table: 'table' } as const
export const heights = { number: 4, lines: 8, table: 8 } as const

/** On Grafana's grid. */
interface Place {
  readonly x: number
  readonly y: number
  readonly h: number
}

/** The panel in Grafana's classic model. */
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

/** A table is of now: all its rows have the same time. */
const columns = (values = 'Value'): Transformation => ({
  id: 'organize',
  options: { excludeByName: { Time: true }, indexByName: {}, renameByName: { Value: values } },
})

function defaultsOf(panel: Panel): FieldDefaults {
  const { unit, as, bad, most } = panel
  return {
    unit,
    color: { mode: as === 'number' ? 'thresholds' : 'palette-classic' },
    thresholds: { mode: 'absolute', steps: stepsOf(bad) },
    ...(most !== undefined && { min: 0, max: most }),
    // Rows are counted.
    ...(as === 'table' && { decimals: 0 }),
    ...(as === 'lines' && { custom: lineStyleOf(panel) }),
  }
}

const lineStyleOf = ({ bad, isStacked = false }: Panel): LineStyle => ({
  drawStyle: 'line',
  lineWidth: 1,
  fillOpacity: isStacked ? 20 : 0,
  showPoints: 'never',
  spanNulls: false,
  // So that little looks like little.
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
