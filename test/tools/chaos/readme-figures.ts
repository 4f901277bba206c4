import type { PublishedRow } from './publication.ts'

type DatedRow = Pick<PublishedRow, 'name' | 'faults' | 'sent' | 'lost' | 'recoveryMs' | 'date' | 'commit' | 'machine'>

/**
 * A scenario in which Kafka deletes unread records. Its losses are expected, so they do not count.
 */
const retention = 'retention'
const exception = 'not counting the scenario in which Kafka deletes records before Hookline reads them'
const killScenarios = ['killed', 'killed-50', 'collector-killed']
const page = '[reliability](docs/reliability/README.md)'
const notMeasured = 'not measured yet'

/** Returns the two figures of README.md that come from `make chaos`, as a list. */
export const readmeText = (rows: readonly DatedRow[]): string =>
  [
    `- ${lossText(rows.filter(({ name }) => name !== retention))}`,
    `- ${recoveryText(rows.filter(({ name }) => killScenarios.includes(name)))}`,
  ].join('\n')

function lossText(rows: readonly DatedRow[]): string {
  if (rows.length === 0) return `${notMeasured}: deliveries lost under injected faults`
  const [lost, sent, faults] = [sum(rows, row => row.lost), sum(rows, row => row.sent), sum(rows, faultCount)]
  const scope = `in ${rows.length} scenarios with ${faults} injected faults, ${exception}`
  return `**${shown(lost)} of ${shown(sent)}** deliveries of acknowledged messages lost ${scope} (${page}, ${originOf(rows)})`
}

function recoveryText(rows: readonly DatedRow[]): string {
  const what = 'until every affected partition delivers again after processes are killed with SIGKILL under load'
  if (rows.length === 0) return `${notMeasured}: the time ${what}`
  const times = rows.map(row => row.recoveryMs ?? Number.POSITIVE_INFINITY)
  const slowest = Math.max(...times)
  const value = Number.isFinite(slowest) ? `${(slowest / 1_000).toFixed(1)} s at most` : 'never'
  return `**${value}** ${what} (${page}, ${originOf(rows)})`
}

const sum = (rows: readonly DatedRow[], number: (row: DatedRow) => number): number =>
  rows.reduce((total, row) => total + number(row), 0)
const faultCount = (row: DatedRow): number => row.faults.length
const shown = (count: number): string => count.toLocaleString('en-US')

/** Returns for example `2026-11-21 to 2026-11-23, commit 0123abcd, 2 × some CPU`. */
function originOf(rows: readonly DatedRow[]): string {
  const dates = rows.map(({ date }) => date).toSorted()
  const commits = [...new Set(rows.map(({ commit }) => commit))]
  const machines = new Set(rows.map(({ machine }) => withoutLoad(machine)))
  const parts = [
    [...new Set([dates.at(0), dates.at(-1)])].join(' to '),
    `commit${commits.length > 1 ? 's' : ''} ${commits.join(' and ')}`,
    ...machines,
  ]
  return parts.join(', ')
}

/** Removes the load average, which differs from scenario to scenario. */
export const withoutLoad = (machine: string): string => machine.replace(/, load [\d.]+$/, '')
