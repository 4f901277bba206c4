import { describe, expect, it } from '@jest/globals'
import { metricGroups } from '../../../../deploy/tools/metrics/metric-groups.ts'
import { createMetrics } from '../../../../src/adapters/metrics/metrics.ts'
import { metricSpecs } from '../../../../src/core/metrics/metrics.ts'
import { contractMetrics } from '../../../support/prometheus/metrics-contract.ts'

const exposed = [...(await createMetrics().text()).matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm)].map(
  ([, name = '', help = '', type = '']) => ({ name, help, type }),
)

describe('the metrics contract and the exposition', () => {
  it('have the same metrics of the same types', () => {
    const shape = (metrics: readonly { name: string; type: string }[]) =>
      metrics.map(({ name, type }) => `${type} ${name}`).toSorted()
    expect(shape(contractMetrics)).toEqual(shape(exposed))
  })

  it('the reference has every table of the code', () => {
    const listed = metricGroups.flatMap(({ metrics }) => metrics.map(({ name }) => name))
    expect(listed.toSorted()).toEqual(exposed.map(({ name }) => name).toSorted())
    expect(listed).toEqual(expect.arrayContaining(Object.values(metricSpecs).map(({ name }) => name)))
  })
})
