import type { DeletionStatus } from '../core/deletion/status.ts'
import { tableOf } from './printable.ts'

const titles = ['SOURCE', 'DESTINATION', 'STATUS', 'DELIVERED', 'UNDELIVERED', 'WAITING']

/** A row for each source and destination that is told. */
export function deletionLines({ sources }: DeletionStatus): readonly string[] {
  const rows = sources.flatMap(source =>
    source.destinations.map(({ id, status, delivered, undelivered, waiting }) => [
      source.id,
      id,
      status,
      ...[delivered, undelivered, waiting].map(String),
    ]),
  )
  return rows.length === 0 ? ['nobody is told: no enabled destination gets these sources'] : tableOf(titles, rows)
}
