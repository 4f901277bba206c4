import { FairSemaphore, type PermitRequest } from '../../core/collections/fair-semaphore.ts'
import type { BodyOwner } from '../../core/collector/request-body-memory-budget.ts'
import type { Connection } from './open-connections.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'

/**
 * Maximum number of concurrently unpacked bodies. Each needs about 200 KB outside of the memory
 * budget. Bodies without a known source have separate permits, so that they do not delay the
 * others.
 */
const permits = { known: 12, unknown: 4 } as const

/**
 * The minimum cost of a body. The cost is otherwise the packed bytes and not the unpacked ones,
 * because empty deflate blocks unpack to nothing, but take the most time.
 */
const minCost = 1_024

/** Why a body is not unpacked. `gone`: the connection has closed. */
export type NotUnpacked = { readonly kind: 'refused'; readonly answer: HttpResponse } | { readonly kind: 'gone' }

/** The permit of one body to be unpacked. */
export interface UnpackPermit {
  /**
   * Waits for the permit to unpack a body of `bytes` packed bytes. After `begun`, the caller must
   * call `end` when the unpacking has ended or failed.
   */
  begin(connection: Pick<Connection, 'onClosed'>, bytes: number): Promise<{ readonly kind: 'begun' } | NotUnpacked>
  /** Refuses the body with `answer` if it waits for the permit. Otherwise returns false. */
  refuse(answer: HttpResponse): boolean
  end(): void
}

/**
 * Limits how many gzip bodies are unpacked concurrently. Permits are divided fairly by packed
 * bytes: among the sources, and separately among the client addresses of bodies without a known
 * source.
 */
export function createUnpackPermits(): (owner: BodyOwner) => UnpackPermit {
  const known = new FairSemaphore(permits.known)
  const unknown = new FairSemaphore(permits.unknown)

  return ({ sourceId, address }) => {
    const semaphore = sourceId === undefined ? unknown : known
    /** Removes the body from the queue; `undefined` when it does not wait. */
    let leave: ((why: NotUnpacked) => void) | undefined
    return {
      begin: ({ onClosed }, bytes) =>
        new Promise(resolve => {
          const settle = (result: { readonly kind: 'begun' } | NotUnpacked): void => {
            onClosed.delete(onGone)
            leave = undefined
            resolve(result)
          }
          const request: PermitRequest = {
            group: sourceId ?? address,
            cost: Math.max(bytes, minCost),
            before: undefined,
            after: undefined,
            begin: () => settle({ kind: 'begun' }),
          }
          const onGone = (): void => leave?.({ kind: 'gone' })
          leave = why => {
            semaphore.leave(request)
            settle(why)
          }
          onClosed.add(onGone)
          semaphore.acquire(request)
        }),
      refuse(answer) {
        const isWaiting = leave !== undefined
        leave?.({ kind: 'refused', answer })
        return isWaiting
      },
      end: () => semaphore.release(),
    }
  }
}
