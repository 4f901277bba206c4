import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import ajv from 'ajv'
import { dashboards, type PanelJson, shownPanels } from '../../../support/dashboards.ts'

/* Grafana's own schemas of its classic model, which know every property: what is misspelt is refused. */

const schemas = new ajv.Ajv({ strict: false, allErrors: true, validateFormats: false })
for (const name of ['dashboard', 'stat', 'table', 'timeseries', 'prometheus']) {
  const file = join(import.meta.dirname, `../../../fixtures/grafana/${name}.jsonschema.json`)
  schemas.addSchema(JSON.parse(readFileSync(file, 'utf8')), name)
}

/** What a schema has against a value, one line each. */
function faults(schema: string, value: unknown): readonly string[] {
  const validate = schemas.getSchema(schema)
  if (validate === undefined) throw new Error(`no schema ${schema}`)
  validate(value)
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

type Whole = PanelJson & {
  readonly options: object
  readonly targets: readonly object[]
  readonly fieldConfig: { readonly defaults: { readonly custom?: object } }
}

describe('Grafana’s model', () => {
  it.each(dashboards.map(dashboard => [dashboard.uid, dashboard] as const))('%s is a dashboard', (_, dashboard) => {
    expect(faults('dashboard', dashboard)).toEqual([])
  })

  it.each(shownPanels.map(({ name, panel }) => [name, panel as Whole] as const))(
    '%s is a panel of its type',
    (_, panel) => {
      expect(faults(`${panel.type}#/definitions/Options`, panel.options)).toEqual([])
      for (const target of panel.targets) expect(faults('prometheus#/definitions/Dataquery', target)).toEqual([])
      const { custom } = panel.fieldConfig.defaults
      if (custom !== undefined) expect(faults('timeseries#/definitions/FieldConfig', custom)).toEqual([])
    },
  )

  it('is looked at closely enough to see a slip', () => {
    expect(faults('dashboard', { ...dashboards[0], refreshh: '30s' })).toHaveLength(1)
    expect(faults('stat#/definitions/Options', { colorMode: 'colour' }).length).toBeGreaterThan(0)
  })
})
