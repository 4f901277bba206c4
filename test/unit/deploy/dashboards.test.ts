import { describe, expect, it } from '@jest/globals'
import type {
  DashboardModel,
  LineStyle,
  PanelModel,
  PanelOptions,
  Query,
} from '../../../deploy/tools/dashboards/grafana-types.ts'
import { dashboards, shownPanels } from '../../support/prometheus/dashboards.ts'
import { contractMetrics, contractSeries } from '../../support/prometheus/metrics-contract.ts'
import { askedIn } from '../../support/prometheus/promql-parser.ts'
import { breachesIn, metricsIn } from '../../support/prometheus/query-contract-breaches.ts'
import { alerts, recordings } from '../../support/prometheus/rules.ts'

const exprsOf = ({ targets = [] }: { targets?: readonly { expr: string }[] }): string[] =>
  targets.map(({ expr }) => expr)

describe('dashboards', () => {
  it('are four, each with its own address', () => {
    expect(dashboards.map(({ uid }) => uid).toSorted()).toEqual([
      'hookline-destinations',
      'hookline-kafka',
      'hookline-overview',
      'hookline-runtime',
    ])
  })

  it.each(dashboards.map(dashboard => [dashboard.uid, dashboard] as const))('%s', (_, dashboard) => {
    expect(dashboard).toMatchObject({ editable: false, schemaVersion: 39 })
    const names = dashboard.templating.list.map(({ name }) => name)
    expect(names.slice(0, 3)).toEqual(['datasource', 'namespace', 'job'])
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const texts = [
      ...dashboard.panels.flatMap(exprsOf),
      ...dashboard.annotations.list.map(({ expr }) => expr),
      ...dashboard.links.map(({ url }) => url),
    ]
    const used = new Set(texts.flatMap(text => [...text.matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name)))
    expect([...used].toSorted()).toEqual(names.slice(1).toSorted())
    for (const { definition } of dashboard.templating.list)
      if (definition !== undefined) {
        const [, name = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? []
        expect(breachesIn(`sum by (${label}) (${name})`)).toEqual([])
      }
  })

  it.each(dashboards.map(dashboard => [dashboard.uid, dashboard] as const))(
    'in %s no panel overlaps another',
    (_, { panels }) => {
      const taken = new Set<string>()
      for (const { gridPos, title } of panels) {
        expect([title, gridPos.x + gridPos.w <= 24]).toEqual([title, true])
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
            expect([title, taken.has(`${x}/${y}`)]).toEqual([title, false])
            taken.add(`${x}/${y}`)
          }
      }
    },
  )
})

describe('panels', () => {
  it.each(shownPanels.map(({ name, panel }) => [name, panel] as const))('%s', (_, panel) => {
    expect(panel.description).toMatch(/^\S.*[^.]\.$/)
    expect(panel.fieldConfig?.defaults.unit).toBeTruthy()
    expect(panel.targets?.length).toBeGreaterThan(0)
    for (const { expr, legendFormat } of panel.targets ?? []) {
      expect(breachesIn(expr)).toEqual([])
      // The result of the query must have each label that the legend uses.
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        expect(expr + label).toMatch(new RegExp(`\\b${label}\\b`))
      for (const { name, matchers } of askedIn(expr).metrics) {
        const by = matchers.map(({ label }) => label)
        expect([name, by.includes('job'), by.includes('namespace')]).toEqual([name, true, true])
        if (contractSeries.get(name)?.type !== 'gauge' && contractSeries.has(name))
          expect([name, new RegExp(`(rate|increase)\\(${name}\\b`).test(expr)]).toEqual([name, true])
      }
    }
  })

  it('with lines of single destinations link to the page of the destination', () => {
    const found = shownPanels.filter(({ panel: { targets = [] } }) =>
      targets.some(({ legendFormat }) => legendFormat.includes('{{destination}}')),
    )
    const urls = [`\${console}console/destinations/\${__field.labels.destination}`]
    expect(found.map(({ name }) => name)).toContain('hookline-kafka: Membership updates')
    for (const { name, panel } of found)
      expect([name, panel.fieldConfig?.defaults.links?.map(({ url }) => url)]).toEqual([name, urls])
  })

  it('have different titles within a dashboard', () => {
    expect(new Set(shownPanels.map(({ name }) => name)).size).toBe(shownPanels.length)
  })
})

describe('the use of a metric matches its contract', () => {
  const inAlerts = new Set([...alerts, ...recordings].flatMap(({ expr }) => metricsIn(expr)))
  const onDashboards = new Set(shownPanels.flatMap(({ panel }) => exprsOf(panel)).flatMap(metricsIn))
  it.each(contractMetrics.map(({ name, use }) => [name, use] as const))('%s: %s', (name, use) => {
    expect(use).toBe(inAlerts.has(name) ? 'alert' : onDashboards.has(name) ? 'dashboard' : 'debug')
  })
})

describe("the types of Grafana's SDK", () => {
  // If a type permits one of these mistakes, type checking fails here.
  it('reject options that Grafana does not have', () => {
    // @ts-expect-error: an option is misspelt
    const options: Partial<PanelOptions['stat']> = { colourMode: 'value' }
    // @ts-expect-error: an option has a value that does not exist
    const mode: PanelOptions['stat']['colorMode'] = 'colour'
    // @ts-expect-error: a query has a field of another data source
    const query: Query = { expr: 'up', rawSql: 'select 1' }
    // @ts-expect-error: a line style is misspelt
    const style: LineStyle = { lineWidht: 1 }
    // @ts-expect-error: no panel of the dashboards has this type
    const type: PanelModel['type'] = 'timeserie'
    // @ts-expect-error: a field of the dashboard has the wrong type
    const dashboard: Partial<DashboardModel> = { refresh: 30 }
    expect([options, mode, query, style, type, dashboard]).toHaveLength(6)
  })
})
