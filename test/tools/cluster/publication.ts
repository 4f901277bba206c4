import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compactJson } from '../../../deploy/tools/json-and-yaml-text.ts'
import { code, table, withBlock } from '../../../deploy/tools/reference/markdown.ts'
import type { Circumstances } from '../chaos/publication.ts'
import type { Row } from './run-scenario.ts'

/** A row of `cluster.json`. */
export interface PublishedRow extends Row, Circumstances {
  /** Absent in the first published rows. */
  readonly versions?: string
}

const places = { results: 'docs/reliability/cluster.json', page: 'docs/reliability/README.md' } as const

const seconds = (ms: number | null): string => (ms === null ? '–' : (ms / 1_000).toFixed(1))

/** One line for a terminal. The reasons of a failure follow, a line each. */
export function summary({ name, failures, measured, ...figures }: Row): string {
  const { sent, lost, duplicates, refused, restarts, pauseMs, latestMs } = figures
  const counts =
    `${sent} deliveries, ${lost} lost, ${duplicates.ours} duplicates, ${duplicates.inProgress} repeated that a ` +
    `pod could not commit, ${refused} requests refused, ${restarts} restarts, longest pause ${seconds(pauseMs)} s, ` +
    `slowest delivery ${seconds(latestMs)} s`
  return [
    `${name} ${failures.length === 0 ? 'holds' : 'FAILS'}: ${[counts, ...measured].join('; ')}`,
    ...failures,
  ].join('\n  ')
}

type Runnable = readonly Pick<Row, 'name' | 'shows'>[]

export async function publish(root: string, fresh: readonly PublishedRow[], scenarios: Runnable): Promise<void> {
  for (const [path, text] of await publishedFiles(root, scenarios, fresh)) await writeFile(join(root, path), text)
}

/**
 * Returns the new texts of `cluster.json` and its page, by path. `texts` has pages that another
 * generator has already changed.
 */
export async function publishedFiles(
  root: string,
  scenarios: Runnable,
  fresh: readonly PublishedRow[] = [],
  texts: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const before = JSON.parse(await readFile(join(root, places.results), 'utf8')) as readonly PublishedRow[]
  const rows = [...new Map([...before, ...fresh].map(row => [row.name, row])).values()]
  const page = texts.get(places.page) ?? (await readFile(join(root, places.page), 'utf8'))
  return new Map([
    [places.results, compactJson(rows, 1)],
    [places.page, withBlock(page, 'cluster', fullText(rows, scenarios))],
  ])
}

/**
 * Returns the table, and the lists of failures, additional figures, versions, and scenarios without
 * a row.
 */
export function fullText(rows: readonly PublishedRow[], scenarios: Runnable): string {
  if (rows.length === 0) return 'Nothing has been published yet.'
  const titles = [
    ...['scenario', 'what happens', 'deliveries', 'lost', 'duplicates', 'repeated', 'refused'],
    ...['restarts', 'pause s', 'slowest delivery s', 'verdict', 'day', 'commit', 'machine'],
  ]
  const lines = rows.map(row => [
    ...[code(row.name), row.shows, `${row.sent}`, `${row.lost}`, `${row.duplicates.ours}`],
    ...[
      `${row.duplicates.inProgress}`,
      `${row.refused}`,
      `${row.restarts}`,
      seconds(row.pauseMs),
      seconds(row.latestMs),
    ],
    ...[row.failures.length === 0 ? 'holds' : 'FAILS', row.date, row.commit, row.machine],
  ])
  const itemsOf = (of: (row: PublishedRow) => readonly string[]): readonly string[] =>
    rows.flatMap(row => (of(row).length > 0 ? [`${code(row.name)}: ${of(row).join('; ')}`] : []))
  const versions = Map.groupBy(rows, row => row.versions ?? 'not recorded')
  const namesOf = (own: readonly PublishedRow[]): string => own.map(({ name }) => code(name)).join(', ')
  const unpublished = scenarios.filter(({ name }) => !rows.some(row => row.name === name))
  return [
    table(titles, lines),
    ...listed(
      'Failures:',
      itemsOf(row => row.failures),
    ),
    ...listed(
      'Additional figures:',
      itemsOf(row => row.measured),
    ),
    ...listed(
      'Versions:',
      [...versions].map(([text, own]) => `${namesOf(own)}: ${text}`),
    ),
    ...listed(
      'Without a published result:',
      unpublished.map(({ name, shows }) => `${code(name)}: ${shows}`),
    ),
  ].join('\n\n')
}

const listed = (title: string, items: readonly string[]): readonly string[] =>
  items.length > 0 ? [title, items.map(item => `- ${item}`).join('\n')] : []
