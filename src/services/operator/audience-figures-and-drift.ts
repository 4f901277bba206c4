import { syncIdsIn } from '../../core/audience/audience-watermark.ts'
import type { Membership } from '../../core/audience/membership.ts'
import { type SyncStatus, syncStatuses, syncStatusOf } from '../../core/audience/membership-status-at-destination.ts'
import { type SyncId, syncId } from '../../core/audience/sync-id.ts'
import type { JsonText } from '../../core/message/canonical-json-text.ts'
import type { AudienceFigures } from '../../core/operator/audience-view.ts'
import type { EpochMs } from '../../core/time.ts'
import { type MembershipSource, visitMemberships } from './visit-all-memberships.ts'

interface Deps extends MembershipSource {
  readonly now: EpochMs
  /** Returns the value of users who are not in an audience. */
  readonly absentValueOf: (audience: string) => JsonText
}

/** Sums up the memberships of every audience, or only of the given one, by audience name. */
export async function audienceFigures(deps: Deps, only?: string): Promise<ReadonlyMap<string, AudienceFigures>> {
  const counts = new Map<string, Count>()
  const countOf = (audience: string): Count => {
    const count = counts.get(audience) ?? new Count()
    counts.set(audience, count)
    return count
  }
  await visitMemberships(deps, {
    isWanted: audience => only === undefined || audience === only,
    onWatermark(audience, watermark) {
      const count = countOf(audience)
      for (const id of syncIdsIn(watermark)) count.see(id)
    },
    onMembership({ audience, destination }, state) {
      const count = countOf(audience)
      count.see(state.syncId)
      count.add(destination, syncStatusOf(state, deps.now), state.desired !== deps.absentValueOf(audience))
    },
  })
  return new Map([...counts].map(([audience, count]) => [audience, { audience, ...count.figures() }]))
}

class Count {
  #newest = syncId(0)
  readonly #byDestination = new Map<string, { members: number; syncStatuses: Record<SyncStatus, number> }>()

  see(id: SyncId): void {
    if (id > this.#newest) this.#newest = id
  }

  add(destination: string, status: SyncStatus, isMember: boolean): void {
    const count = this.#byDestination.get(destination) ?? { members: 0, syncStatuses: { ...none } }
    this.#byDestination.set(destination, count)
    count.syncStatuses[status]++
    if (isMember) count.members++
  }

  figures(): Pick<AudienceFigures, 'newest' | 'destinations'> {
    return {
      newest: this.#newest === 0 ? undefined : this.#newest,
      destinations: [...this.#byDestination].map(([destination, count]) => ({ destination, ...count })),
    }
  }
}

const none = Object.fromEntries(syncStatuses.map(status => [status, 0])) as Record<SyncStatus, number>

/** A membership that its destination has not acknowledged. */
export interface Drifted {
  readonly userId: string
  readonly destination: string
  readonly standing: Exclude<SyncStatus, 'acknowledged'>
  readonly state: Membership
}

/** Visits every membership of an audience that its destination has not acknowledged. */
export function visitDrift(
  deps: MembershipSource & Pick<Deps, 'now'>,
  audience: string,
  visit: (drifted: Drifted) => void | Promise<void>,
): Promise<void> {
  return visitMemberships(deps, {
    isWanted: name => name === audience,
    onMembership({ userId, destination }, state) {
      const standing = syncStatusOf(state, deps.now)
      if (standing !== 'acknowledged') return visit({ userId, destination, standing, state })
    },
  })
}
