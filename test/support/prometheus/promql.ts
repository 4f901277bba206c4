/** What an expression in PromQL asks for: its metrics, each with its matchers, and the labels that it groups or joins by. */
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
/** They may have `by (…)` before their parentheses. */
const aggregations = ['sum', 'max', 'min', 'avg', 'count', 'topk', 'quantile']
const words = new Set([...operators, ...aggregations])
/** With these a list of labels follows. */
const lists = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'])

/** Reads an expression without judging its syntax, which Prometheus does. Grafana's `$variables` are taken for texts and durations. */
export function askedIn(expr: string): Asked {
  const metrics: { name: string; matchers: Matcher[] }[] = []
  const labels: string[] = []
  const names = /"(?:\\.|[^"\\])*"|\[[^\]]*\]|\d+[smhdwy]?\b|([a-zA-Z_:][\w:]*)(\s*[({])?([^)}]*)/g
  for (let at = names.exec(expr); at !== null; at = names.exec(expr)) {
    const [, name, opens, rest = ''] = at
    if (name === undefined) continue
    // Only the name is taken here; what stands in the parentheses is read on.
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
