import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const deploy = join(import.meta.dirname, '../../../deploy')
export const rulesDirectory = join(deploy, 'helm/hookline/files/rules')
/** One promtool test file per alert. */
export const ruleTestsDirectory = join(deploy, 'tools/rule-tests')

export interface Rule {
  readonly group: string
  readonly expr: string
  readonly record?: string
  readonly alert?: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export const recordings = rulesIn('recording.yaml')
export const alerts = rulesIn('alerts.yaml')
export const testedAlerts = readdirSync(ruleTestsDirectory).map(file => file.replace(/\.yaml$/, ''))

export const nameOf = ({ record, alert }: Rule): string => record ?? alert ?? ''

/** The recording rules that an expression uses, directly or through one other rule. */
export function neededBy(expr: string): readonly Rule[] {
  return recordings.filter(
    ({ record = '' }) =>
      expr.includes(record) || recordings.some(other => expr.includes(nameOf(other)) && other.expr.includes(record)),
  )
}

function rulesIn(file: string): readonly Rule[] {
  const { groups } = parse(readFileSync(join(rulesDirectory, file), 'utf8')) as {
    groups: { name: string; rules: Omit<Rule, 'group'>[] }[]
  }
  return groups.flatMap(({ name, rules }) => rules.map(rule => ({ ...rule, group: name })))
}
