import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { allPages, checkout } from '../../../support/docs/pages.ts'
import { dashboards, shownPanels } from '../../../support/prometheus/dashboards.ts'
import { metricsIn } from '../../../support/prometheus/query-contract-breaches.ts'
import { alerts, nameOf } from '../../../support/prometheus/rules.ts'

const pages = allPages()
  .filter(({ path }) => path.startsWith('docs/runbooks/'))
  .map(({ path, text }) => [basename(path), text] as const)

/** The name by which runbooks call a dashboard: its title without `Hookline: `. */
const calledIn = ({ title }: { title: string }): string =>
  title.replace(/^Hookline: (.)/, (_, first: string) => first.toUpperCase())

const titles = new Set([...dashboards.map(calledIn), ...shownPanels.map(({ panel }) => panel.title)])

/** The texts in italics that begin with a capital letter. */
const quotedIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?<![*\w])\*([A-Z][^*]+)\*(?![*\w])/g)].map(([, name = '']) => name.replaceAll(/\s+/g, ' '))

/** Limits a rule to the processes of Hookline. */
const ofHookline = ' and on (job, instance) hookline_build_info'

/**
 * Texts in runbooks that are not in the source: the first is from kubectl, the second from pino.
 */
const foreign = ['Last State', '"level":"error"']
const source = globSync('src/**/*.ts', { cwd: checkout })
  .map(file => readFileSync(join(checkout, file), 'utf8'))
  .join('\n')

describe('runbooks quote', () => {
  it.each(pages)('only existing dashboards and panels in %s', (_, text) => {
    expect(quotedIn(text).filter(name => !titles.has(name) && !name.includes(' N '))).toEqual([])
  })

  it.each(alerts.map(rule => [nameOf(rule), rule] as const))(
    'in the diagnosis of %s the panels with the metrics of the rule',
    (name, rule) => {
      const text = pages.find(([file]) => file === `${name}.md`)?.[1] ?? ''
      const quoted = quotedIn(/^## Diagnosis$(.*?)^## /ms.exec(text)?.[1] ?? '')
      const shown = shownPanels
        .filter(({ dashboard, panel }) => quoted.includes(calledIn(dashboard)) && quoted.includes(panel.title))
        .flatMap(({ panel: { targets = [] } }) => targets.flatMap(({ expr }) => metricsIn(expr)))
      const needed = new Set(metricsIn(rule.expr.replaceAll(ofHookline, '')))
      expect([...needed].filter(metric => !shown.includes(metric))).toEqual([])
    },
  )

  it.each(pages)('only existing log lines in %s', (_, text) => {
    const searched = [...text.matchAll(/grep (?:-\w+ )*(?:'([^'\n]+)'|"([^"\n]+)")/g)].map(([, a, b]) => a ?? b ?? '')
    expect(searched.filter(line => !source.includes(line) && !foreign.includes(line))).toEqual([])
  })

  it('the summary of each alert in the list', () => {
    const text = pages.find(([file]) => file === 'README.md')?.[1] ?? ''
    const listed = [...text.matchAll(/^\| \[(\w+)\]\(\w+\.md\) \| (.*) \|$/gm)].map(([, name, says]) => [name, says])
    const expected = alerts.map(alert => [nameOf(alert), inProse(alert.annotations?.['summary'] ?? '')])
    expect(listed.toSorted()).toEqual(expected.toSorted())
  })
})

const inProse = (summary: string): string =>
  summary
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '*$1*')
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, 'N')
    .replace(/\b(_other|destinationsFrom)\b/, '`$1`')
