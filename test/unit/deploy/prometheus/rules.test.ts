import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { askedIn } from '../../../support/prometheus/promql-parser.ts'
import { breachesIn } from '../../../support/prometheus/query-contract-breaches.ts'
import { alerts, nameOf, recordings, testedAlerts } from '../../../support/prometheus/rules.ts'

const root = join(import.meta.dirname, '../../../..')
const runbooks = join(root, 'docs/runbooks')
const names = alerts.map(nameOf)

describe('alerts', () => {
  it.each(alerts.map(alert => [nameOf(alert), alert] as const))('%s', (name, { labels, annotations, expr, group }) => {
    expect(name).toMatch(/^Hookline[A-Z]\w+$/)
    expect(labels).toEqual({ severity: group.replace('hookline-', '') })
    expect(['page', 'ticket']).toContain(labels?.['severity'])
    const { console_url: page, ...others } = annotations ?? {}
    expect(Object.keys(others).toSorted()).toEqual(['description', 'runbook_url', 'summary'])
    if (page !== undefined) expect(page).toMatch(/^console\/(destinations[/?]|dead-letters\?)/)
    for (const text of [annotations?.['summary'], annotations?.['description']]) expect(text).toMatch(/[.?]$/)
    expect(annotations?.['runbook_url']).toBe(`docs/runbooks/${name}.md`)
    expect(breachesIn(expr)).toEqual([])
    // Each alert is about one installation, which the label `job` names.
    expect(expr.includes('job') || recordedWith(expr, 'job')).toBe(true)
    expect(selectedInstallations(expr)).toEqual([])
  })

  it('about destinations, or with dead letters, have a page of the console', () => {
    const linked = alerts.filter(({ annotations }) => annotations?.['console_url'] !== undefined)
    expect(linked.map(nameOf).toSorted()).toEqual([
      'HooklineDeliveriesGivenUp',
      'HooklineDestinationFailing',
      'HooklineDestinationsExcluded',
      'HooklineEndpointGone',
      'HooklineEndpointRefused',
      'HooklineInputRefused',
    ])
  })

  it('have unique names', () => {
    expect(new Set(names).size).toBe(names.length)
  })

  it('use only labels of their series in annotations', () => {
    for (const { expr, annotations } of alerts)
      for (const [, label = ''] of Object.values(annotations ?? {})
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g))
        expect(expr.includes(label) || expr.startsWith('(nodejs') || recordedWith(expr, label)).toBe(true)
  })

  it('have one test file each, and no others exist', () => {
    expect(testedAlerts.toSorted()).toEqual(names.toSorted())
  })
})

/**
 * Returns the jobs and namespaces that an expression selects by name. A rule must select none,
 * because it applies to all installations.
 */
const selectedInstallations = (expr: string): readonly string[] => {
  const matchers = askedIn(expr).metrics.flatMap(metric => metric.matchers)
  return matchers.filter(({ label }) => label === 'job' || label === 'namespace').map(({ value }) => value)
}

const recordedWith = (expr: string, label: string): boolean =>
  recordings.some(rule => expr.includes(nameOf(rule)) && rule.expr.includes(label))

describe('recording rules', () => {
  it.each(recordings.map(rule => [nameOf(rule), rule] as const))('%s', (name, { expr }) => {
    expect(name).toMatch(/^hookline:[a-z_]+:[a-z]+(_rate)?\d+[mhd]$|^hookline:[a-z_]+:(rate|increase)\d+[mhd]$/)
    expect(breachesIn(expr)).toEqual([])
    expect(selectedInstallations(expr)).toEqual([])
    expect(alerts.some(alert => alert.expr.includes(name)) || recordings.some(other => other.expr.includes(name))).toBe(
      true,
    )
  })
})

describe('a breach of the contract is detected', () => {
  it.each([
    { expr: 'hookline_nothing_total', breach: 'no metric hookline_nothing_total' },
    { expr: 'hookline_deliveries_total{source="web"}', breach: 'hookline_deliveries_total has no source' },
    { expr: 'hookline_deliveries_total{result="lost"}', breach: 'hookline_deliveries_total has no result lost' },
    {
      expr: 'hookline_deliveries_total{result=~"delivered|lost"}',
      breach: 'hookline_deliveries_total has no result lost',
    },
    { expr: 'sum by (source) (hookline_deliveries_total)', breach: 'no metric has source' },
    { expr: 'hookline_first_attempt_delay_seconds', breach: 'no metric hookline_first_attempt_delay_seconds' },
    {
      expr: 'hookline_first_attempt_delay_seconds_sum{le="1"}',
      breach: 'hookline_first_attempt_delay_seconds_sum has no le',
    },
  ])('$expr', ({ expr, breach }) => {
    expect(breachesIn(expr)).toEqual([breach])
  })
})

describe('runbooks', () => {
  it('exist for each alert, and for no other', () => {
    const pages = readdirSync(runbooks).filter(file => file !== 'README.md')
    expect(pages.map(file => file.replace(/\.md$/, '')).toSorted()).toEqual(names.toSorted())
  })

  it.each(names)('%s has its five parts', name => {
    const text = readFileSync(join(runbooks, `${name}.md`), 'utf8')
    expect(text.split('\n').filter(line => line.startsWith('#'))).toEqual([
      `# ${name}`,
      '## Meaning',
      '## Impact',
      '## Diagnosis',
      '## Mitigation',
      '## Resolution',
    ])
    for (const [, part = ''] of text.matchAll(/^## .*\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm))
      expect(part.trim().length).toBeGreaterThan(20)
  })

  it('list each alert with its severity', () => {
    const text = readFileSync(join(runbooks, 'README.md'), 'utf8')
    const [pages = '', tickets = ''] = text.slice(text.indexOf('## Severity `page`')).split('## Severity `ticket`')
    for (const alert of alerts)
      expect(alert.labels?.['severity'] === 'page' ? pages : tickets).toContain(
        `[${nameOf(alert)}](${nameOf(alert)}.md)`,
      )
  })
})
