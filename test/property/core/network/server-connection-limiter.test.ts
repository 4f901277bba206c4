import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ConnectionLimiter } from '../../../../src/core/network/server-connection-limiter.ts'

/** A connection of the model. The model scans all connections to find the one to close. */
interface Open {
  readonly id: number
  readonly address: string
  requests: number
  idleSince: number
}

const max = 6
const maxPerAddress = 4
const opens = fc.record({ kind: fc.constant('open' as const), address: fc.constantFrom('a', 'b', 'c', 'd', 'e') })
const others = fc.record({ kind: fc.constantFrom('start', 'end', 'close'), of: fc.nat() })
const stepLists = fc.array(fc.oneof(opens, opens, others), { maxLength: 80 })

const connectionsOf = (address: string, open: readonly Open[]): number =>
  open.filter(each => each.address === address).length

/** The connections that may be closed for a new one of this address. */
function replaceable(address: string, open: readonly Open[], maxEqualConnections: number): readonly Open[] {
  const idle = open.filter(({ requests }) => requests === 0)
  const sizeOf = (of: string): number => connectionsOf(of, open) + (of === address ? 1 : 0)
  const most = Math.max(...idle.map(each => sizeOf(each.address)))
  if (most <= maxEqualConnections) return idle.filter(each => idle.every(other => other.idleSince >= each.idleSince))
  const longest = (each: Open): boolean =>
    idle.every(other => other.address !== each.address || other.idleSince >= each.idleSince)
  return idle.filter(each => sizeOf(each.address) === most && longest(each))
}

describe('the limiter of connections', () => {
  it('never exceeds a maximum, and closes what a full scan of all connections finds', () => {
    fc.assert(
      fc.property(stepLists, fc.nat(4), (steps, maxEqualConnections) => {
        const limiter = new ConnectionLimiter<number>(max, maxPerAddress, maxEqualConnections)
        let open: Open[] = []
        for (const [now, step] of steps.entries()) {
          if (step.kind === 'open')
            open = afterOpening(limiter, { id: now, address: step.address, maxEqualConnections }, open)
          else if (open.length > 0) {
            const each = open[step.of % open.length] as Open
            if (step.kind === 'close') {
              limiter.close(each.id)
              open = open.filter(other => other !== each)
            } else if (step.kind === 'start') {
              limiter.startRequest(each.id)
              each.requests += 1
            } else if (each.requests > 0) {
              limiter.endRequest(each.id)
              each.requests -= 1
              each.idleSince = now
            }
          }
          expect(open.length).toBeLessThanOrEqual(max)
        }
      }),
    )
  })

  /**
   * Opens a connection, and checks which one the limiter closes to make room. Returns the
   * connections that are then open.
   */
  function afterOpening(
    limiter: ConnectionLimiter<number>,
    opened: { readonly id: number; readonly address: string; readonly maxEqualConnections: number },
    open: readonly Open[],
  ): Open[] {
    const { id, address, maxEqualConnections } = opened
    const admission = limiter.open(id, address)
    const added: Open = { id, address, requests: 0, idleSince: id }
    const isAtMaximum = connectionsOf(address, open) >= maxPerAddress
    const candidates = replaceable(address, open, maxEqualConnections)
    if (admission.kind === 'refused') {
      expect(admission.maximumOf).toBe(isAtMaximum ? 'address' : 'server')
      if (!isAtMaximum) expect([open.length, candidates]).toEqual([max, []])
      return [...open]
    }
    expect(isAtMaximum).toBe(false)
    expect(admission.kind).toBe(open.length < max ? 'accepted' : 'replaces')
    if (admission.kind === 'accepted') return [...open, added]
    expect(candidates.map(each => each.id)).toContain(admission.idle)
    return [...open.filter(each => each.id !== admission.idle), added]
  }

  it('keeps every connection of an address with fewer connections than the addresses of a crowd', () => {
    const crowd = fc.array(fc.constantFrom('x', 'y'), { minLength: 20, maxLength: 60 })
    fc.assert(
      fc.property(crowd, fc.nat(30), (addresses, before) => {
        const limiter = new ConnectionLimiter<string>(max, max, 1)
        const closed: string[] = []
        for (const [index, address] of addresses.entries()) {
          if (index === before % addresses.length) limiter.open('honest', 'h')
          const admission = limiter.open(`${address}${index}`, address)
          if (admission.kind === 'replaces') closed.push(admission.idle)
        }
        expect(closed.length).toBeGreaterThan(0)
        expect(closed).not.toContain('honest')
      }),
    )
  })
})
