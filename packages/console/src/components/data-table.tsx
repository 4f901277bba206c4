import type { ComponentChildren } from 'preact'
import { Absent } from './absent-value.tsx'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  readonly isNumber?: boolean
}

export interface DataTableProps<Row> {
  /** Names the table for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row, index: number) => string
}

/*
 * On a narrow screen, the style sheet changes the `display` of the elements. Browsers then no
 * longer treat them as a table, so the roles are explicit.
 */
const roles = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  cell: { role: 'cell' },
} as const
const columnHeader = { role: 'columnheader', scope: 'col' } as const

/** A table that becomes a list of blocks on a narrow screen. */
export function DataTable<Row>({ caption, columns, rows, keyOf }: DataTableProps<Row>) {
  return (
    <table class="data" {...roles.table}>
      <caption class="visually-hidden">{caption}</caption>
      <thead {...roles.group}>
        <tr {...roles.row}>
          {columns.map(({ title, isNumber }) => (
            <th key={title} class={isNumber === true ? 'number' : undefined} {...columnHeader}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...roles.group}>
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)} {...roles.row}>
            {columns.map(({ title, cell, isNumber }) => (
              <td key={title} class={isNumber === true ? 'number' : undefined} data-title={title} {...roles.cell}>
                <div class="cell">{cell(row) ?? <Absent />}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
