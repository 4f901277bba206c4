import type { Membership } from './membership.ts'
import type { MemberKey } from './membership-and-watermark-records.ts'
import { PackedMemberships } from './packed-memberships.ts'

type ByDestination = ReadonlyMap<string, PackedMemberships>

/** All memberships of one partition, in a table for each audience and destination. */
export class Memberships {
  /** The tables by audience, then by destination. */
  readonly #tables = new Map<string, Map<string, PackedMemberships>>()

  get({ audience, userId, destination }: MemberKey): Membership | undefined {
    return this.#tables.get(audience)?.get(destination)?.get(userId)
  }

  /** Offset of the last input that changed the membership; `undefined` without a membership. */
  positionOf({ audience, userId, destination }: MemberKey): number | undefined {
    return this.#tables.get(audience)?.get(destination)?.positionOf(userId)
  }

  /** Stores a state; `undefined` removes the membership. */
  put({ audience, userId, destination }: MemberKey, state: Membership | undefined): void {
    const table = this.#tables.get(audience)?.get(destination) ?? this.#newTable(audience, destination)
    if (state === undefined) table.delete(userId)
    else table.set(userId, state)
  }

  /** Returns each audience that has or had memberships. */
  all(): Iterable<readonly [audience: string, ByDestination]> {
    return this.#tables
  }

  tablesOf(audience: string): ByDestination {
    return this.#tables.get(audience) ?? new Map()
  }

  /** The number of memberships and their bytes in memory. */
  size(): { readonly members: number; readonly bytes: number } {
    const tables = [...this.#tables.values()].flatMap(byDestination => [...byDestination.values()])
    return {
      members: tables.reduce((sum, table) => sum + table.size, 0),
      bytes: tables.reduce((sum, table) => sum + table.bytes, 0),
    }
  }

  #newTable(audience: string, destination: string): PackedMemberships {
    const byDestination = this.#tables.get(audience) ?? new Map<string, PackedMemberships>()
    this.#tables.set(audience, byDestination)
    const table = new PackedMemberships()
    byDestination.set(destination, table)
    return table
  }
}
