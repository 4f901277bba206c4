import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { stringify } from 'yaml'
import { findPrometheus } from '../../../deploy/tools/local/find-prometheus.ts'
import { createMetrics } from '../../../src/adapters/metrics/metrics.ts'
import { type Mutant, mutantsOf } from '../../support/prometheus/rule-mutants.ts'
import {
  alerts,
  nameOf,
  neededBy,
  type Rule,
  recordings,
  rulesDirectory,
  ruleTestsDirectory,
} from '../../support/prometheus/rules.ts'

const { promtool } = await findPrometheus()
let scratch = ''

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'hookline-rules-'))
})
afterAll(() => rm(scratch, { recursive: true, force: true }))

function run(args: readonly string[], input = ''): Promise<{ code: number; text: string }> {
  return new Promise(resolve => {
    const child = execFile(promtool, args, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), text: stdout + stderr })
    })
    child.stdin?.end(input)
  })
}

const testFileOf = (alert: string): string => join(ruleTestsDirectory, `${alert}.yaml`)
const ruleFiles = ['recording.yaml', 'alerts.yaml'].map(file => join(rulesDirectory, file))

async function judge(alert: string, rules: readonly Rule[], id: string): Promise<{ code: number; text: string }> {
  const groups = [...Map.groupBy(rules, ({ group }) => group)].map(([name, own]) => ({
    name,
    rules: own.map(({ group: _, ...rule }) => rule),
  }))
  const file = join(scratch, `${id}.rules.yaml`)
  await writeFile(file, stringify({ groups }))
  const text = await readFile(testFileOf(alert), 'utf8')
  const test = join(scratch, `${id}.test.yaml`)
  await writeFile(test, text.replace(/^rule_files: .*$/m, `rule_files: [${file}]`))
  return run(['test', 'rules', test])
}

/**
 * Returns the names of the mutants (rules with one change) that no test of the alerts in `users`
 * detects.
 */
async function survivors(
  mutants: readonly Mutant[],
  users: readonly string[],
  rulesWith: (mutant: Mutant, alert: string) => readonly Rule[],
): Promise<readonly string[]> {
  const alive: string[] = []
  for (const [index, mutant] of mutants.entries()) {
    let isNoticed = false
    for (const alert of users) {
      const { code, text } = await judge(
        alert,
        rulesWith(mutant, alert),
        `${alert}-${nameOf(mutant.rule)}-${index}`.replaceAll(':', '-'),
      )
      // If Prometheus cannot parse a mutant, promtool fails before it runs a test.
      expect(text).not.toMatch(/parse error|error parsing|yaml:/)
      isNoticed ||= code !== 0 && text.includes('FAILED')
      if (isNoticed) break
    }
    if (!isNoticed) alive.push(mutant.name)
  }
  return alive
}

const alertOf = (name: string): Rule => alerts.find(({ alert }) => alert === name) as Rule

describe('rules', () => {
  it('pass promtool check', async () => {
    expect(await run(['check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles])).toMatchObject({ code: 0 })
  })

  it('promtool finds no problem in the metrics of Hookline', async () => {
    const text = await createMetrics().text()
    const { text: found } = await run(['check', 'metrics'], text)
    // promtool reports the names of these gauges, which come from prom-client.
    const stock = /^nodejs_active_(handles|requests|resources)_total /
    expect(found.split('\n').filter(line => line !== '' && !stock.test(line))).toEqual([])
  })
})

describe('each alert fires and clears as its tests expect', () => {
  it.each(alerts.map(nameOf))('%s', async alert => {
    expect(await judge(alert, [...neededBy(alertOf(alert).expr), alertOf(alert)], alert)).toMatchObject({ code: 0 })
  })
})

describe('the tests of an alert fail for each mutation of it', () => {
  it.each(alerts.map(nameOf))('%s', async name => {
    const mutants = mutantsOf(alertOf(name))
    expect(mutants.length).toBeGreaterThan(0)
    const rulesWith = ({ rule }: Mutant): readonly Rule[] => [...neededBy(alertOf(name).expr), rule]
    expect(await survivors(mutants, [name], rulesWith)).toEqual([])
  })
})

describe('the tests of alerts fail for each mutation of a recording rule', () => {
  it.each(recordings.map(nameOf))('%s', async record => {
    const users = alerts.filter(({ expr }) => neededBy(expr).some(rule => rule.record === record)).map(nameOf)
    const rule = recordings.find(each => each.record === record) as Rule
    const double = { name: 'twice as much', rule: { ...rule, expr: `(${rule.expr}) * 2` } }
    const rulesWith = ({ rule: wrong }: Mutant, alert: string): readonly Rule[] => [
      ...neededBy(alertOf(alert).expr).map(each => (each.record === record ? wrong : each)),
      alertOf(alert),
    ]
    expect(await survivors([double, ...mutantsOf(rule)], users, rulesWith)).toEqual([])
  })
})
