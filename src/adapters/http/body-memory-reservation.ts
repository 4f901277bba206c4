import type { TrackingApi } from '../../core/collector/tracking-api.ts'

/** The bytes of the memory budget that one request has reserved. */
export interface Reservation {
  /**
   * Reserves more bytes. If the budget has too few free bytes, reserves nothing and returns false.
   * The caller must then refuse the body.
   */
  take(bytes: number): boolean
  /** Returns all bytes to the budget. Further calls do nothing. */
  release(): void
}

export function createReservation(api: Pick<TrackingApi, 'reserve' | 'release'>): Reservation {
  let taken = 0
  return {
    take(bytes) {
      const granted = api.reserve(bytes)
      if (granted) taken += bytes
      return granted
    },
    release() {
      if (taken > 0) api.release(taken)
      taken = 0
    },
  }
}
