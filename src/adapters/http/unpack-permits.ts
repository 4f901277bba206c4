import { FairSemaphore, type PermitRequest } from '../../core/collections/fair-semaphore.ts'
import type { BodyOwner } from '../../core/collector/request-body-memory-budget.ts'
import type { Connection } from './open-connections.ts'
import type { HttpResponse } from './response-codes-and-bodies.ts'

/**
 * Maximum number of concurrently unpacked bodies. Each needs about 200 KB outside of the memory
 * budget. Bodies of an unknown source have separate permits, so that they do not delay bodies of a
 * known source.
 */
const maxPermits = { known: 12, unknown: 4 } as const

/**
 * Minimum cost of a body. The cost is the number of packed bytes, and the permits are divided
 * fairly by cost. Unpacked bytes do not count: empty deflate blocks unpack to nothing, but take the
 * most time.
 */
const minCostBytes = 1_024

/** Why a body is not unpacked. `gone`: the connection has closed. */
export type NotUnpacked = { readonly kind: 'refused'; readonly answer: HttpResponse } | { readonly kind: 'gone' }

/** The permit to unpack one body. */
export interface UnpackPermit {
  /**
   * Waits for the permit to unpack a body of `bytes` packed bytes. After `begun`, the caller must
   * call `end` when the unpacking has ended or failed.
   */
  begin(connection: Pick<Connection, 'onClosed'>, bytes: number): Promise<{ readonly kind: 'begun' } | NotUnpacked>
  /** If the body waits for the permit, refuses it with `answer`. Otherwise returns false. */
  refuse(answer: HttpResponse): boolean
  end(): void
}

/**
 * Limits how many gzip bodies are unpacked concurrently. Permits are divided fairly by packed
 * bytes: among the sources, and separately among the client addresses of bodies without a known
 * source.
 */
export function createUnpackPermits(): (owner: BodyOwner) => UnpackPermit {
  const known = new FairSemaphore(maxPermits.known)
  const unknown = new FairSemaphore(maxPermits.unknown)

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
            cost: Math.max(bytes, minCostBytes),
            before: undefined,
            after: undefined,
            begin: () => settle({ kind: 'begun' }),
          }
          const onGone = (): void => leave?.({ kind: 'gone' })
          leave = why => {
            semaphore.cancel(request)
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
