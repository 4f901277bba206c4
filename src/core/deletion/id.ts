import { hash } from 'node:crypto'
import { type EpochMs, epochMs } from '../units.ts'

const ours = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** The id of a deletion that is asked for now: a UUIDv7 (RFC 9562), so that it says when. `unique`: any new id. */
export function newDeletionId(now: EpochMs, unique: string): string {
  const time = now.toString(16).padStart(12, '0')
  const chance = hash('sha256', unique)
  const variant = '89ab'[Number.parseInt(chance.slice(15, 16), 16) & 3]
  return [
    time.slice(0, 8),
    time.slice(8),
    `7${chance.slice(0, 3)}`,
    `${variant}${chance.slice(3, 6)}`,
    chance.slice(16, 28),
  ].join('-')
}

/** When a deletion was asked for; undefined: its id does not say, as those that earlier versions or operators made. */
export function deletionAsked(id: string): EpochMs | undefined {
  const [, high = '', low = ''] = ours.exec(id) ?? []
  return high === '' ? undefined : epochMs(Number.parseInt(high + low, 16))
}
