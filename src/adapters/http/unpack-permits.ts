import { FairSemaphore, type PermitRequest } from '../../core/collections/fair-semaphore.ts'
import type { BodyOwner } from '../../core/collector/request-body-memory-budget.ts'
import type { Connection } from './open-connections.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'

/**
 * Maximum number of bodies that are unpacked concurrently. Each needs about 200 KB for zlib and its
 * output, and the memory budget does not include these bytes. Bodies without a known source have
 * separate permits, so that they do not delay the bodies of sources.
 */
const permits = { known: 12, unknown: 4 } as const

/**
 * The minimum cost of a body. While several sources wait for permits, the bodies of each source get
 * permits for the same total cost. The cost of a body is its number of packed bytes, but at least
 * this minimum, because each body causes some fixed work. Unpacked bytes do not show the cost:
 * empty blocks of deflate need the most time per packed byte, but unpack to nothing.
 */
const minCost = 1_024

/** Why a body is not unpacked. If `gone`, the connection has closed, so no response is sent. */
export type NotUnpacked = { readonly kind: 'refused'; readonly answer: HttpResponse } | { readonly kind: 'gone' }

/** The permit of one body to be unpacked. */
export interface UnpackPermit {
  /**
   * Waits for the permit to unpack a body of `bytes` packed bytes. If it resolves with `begun`, the
   * caller must call `end` when the body is unpacked or the unpacking has failed.
   */
  begin(connection: Pick<Connection, 'onClosed'>, bytes: number): Promise<{ readonly kind: 'begun' } | NotUnpacked>
  /**
   * Refuses the body with `answer` if the body waits for the permit. Returns false, and refuses
   * nothing, if the body does not wait.
   */
  refuse(answer: HttpResponse): boolean
  end(): void
}

/**
 * Limits how many gzip bodies of tracking requests are unpacked concurrently. A body that has no
 * permit yet waits in its packed form. The permits are divided fairly by packed bytes: among the
 * sources, and separately among the client addresses of bodies without a known source.
 * (`BodyBudget` divides the memory among the same groups.)
 */
export function createUnpackPermits(): (owner: BodyOwner) => UnpackPermit {
  const known = new FairSemaphore(permits.known)
  const unknown = new FairSemaphore(permits.unknown)

  return ({ sourceId, address }) => {
    const semaphore = sourceId === undefined ? unknown : known
    /** Removes the body from the queue. `undefined` when the body does not wait. */
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
