export interface Asked {
  readonly metrics: readonly { readonly name: string; readonly matchers: readonly Matcher[] }[]
  readonly labels: readonly string[]
}

export interface Matcher {
  readonly label: string
  readonly operator: '=' | '!=' | '=~' | '!~'
  readonly value: string
}

const operators = ['and', 'or', 'unless', 'bool', 'offset']
/** `by (…)` may follow their names. */
const aggregations = ['sum', 'max', 'min', 'avg', 'count', 'topk', 'quantile']
const words = new Set([...operators, ...aggregations])
/** A list of labels follows these keywords. */
const lists = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'])

/**
 * Parses an expression without a check of its syntax. Grafana's `$variables` may replace texts and
 * durations.
 */
export function askedIn(expr: string): Asked {
  const metrics: { name: string; matchers: Matcher[] }[] = []
  const labels: string[] = []
  const names = /"(?:\\.|[^"\\])*"|\[[^\]]*\]|\d+[smhdwy]?\b|([a-zA-Z_:][\w:]*)(\s*[({])?([^)}]*)/g
  for (let at = names.exec(expr); at !== null; at = names.exec(expr)) {
    const [, name, opens, rest = ''] = at
    if (name === undefined) continue
    // Continues after the name, so that an expression in parentheses is parsed too.
    names.lastIndex = at.index + name.length
    if (lists.has(name)) {
      labels.push(...splitLabels(rest))
      names.lastIndex = at.index + at[0].length
    } else if (!words.has(name) && opens?.trim() !== '(') {
      const end = opens?.trim() === '{' ? expr.indexOf('}', at.index) : at.index + name.length
      metrics.push({ name, matchers: matchersIn(expr.slice(at.index + name.length, end)) })
      names.lastIndex = end
    }
  }
  return { metrics, labels }
}

const splitLabels = (text: string): string[] =>
  text
    .split(',')
    .map(label => label.trim())
    .filter(Boolean)

function matchersIn(text: string): Matcher[] {
  return [...text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:\\.|[^"\\])*)"/g)].map(
    ([, label = '', operator = '=', value = '']) => ({ label, operator: operator as Matcher['operator'], value }),
  )
}
