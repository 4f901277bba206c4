import type { DestinationStatus } from '../../api/response-types.ts'

export interface FirstDelivery {
  /**
   * In the last hour:
   * - `delivered`: at least one success.
   * - `failing`: only failed attempts or dead letters.
   * - `waiting`: neither attempts nor dead letters, or the status is not loaded yet.
   * - `unknown`: the loaded status has no field `results`.
   */
  readonly kind: 'delivered' | 'failing' | 'waiting' | 'unknown'
  readonly delivered: number
  /** Failed attempts. */
  readonly failed: number
  readonly deadLettered: number
}

/**
 * The progress of a new destination towards its first delivery, from the results of the last hour.
 */
export function firstDeliveryOf(status: Pick<DestinationStatus, 'results'> | undefined): FirstDelivery {
  const hour = status?.results?.lastHour
  if (hour === undefined)
    return { kind: status === undefined ? 'waiting' : 'unknown', delivered: 0, failed: 0, deadLettered: 0 }
  const { delivered, failed, deadLettered } = hour
  const kind = delivered > 0 ? 'delivered' : failed + deadLettered > 0 ? 'failing' : 'waiting'
  return { kind, delivered, failed, deadLettered }
}
