import type { AudienceInput, LostInput } from '../../../src/core/audience/input.ts'
import { syncBegan } from '../../../src/core/audience/sync-id.ts'
import type { EpochMs } from '../../../src/core/time.ts'

export type InputLog = readonly { readonly input: AudienceInput | LostInput; readonly at: EpochMs }[]

const weekOfIds = 7 * 24 * 3_600_000 * 1024
const dayOfIds = 24 * 3_600_000 * 1024

/**
 * The value of each `<audience>/<user>` in the newest sync that has the user. Leaves out deleted
 * users and those whom a full sync removed.
 */
export function truthOf(log: InputLog, deletedAt: ReadonlyMap<string, EpochMs>): ReadonlyMap<string, string> {
  const said = new Map<string, { readonly value: string; readonly sync: number }>()
  const newest = new Map<string, number>()
  const over = new Map<string, number>()
  let lost = 0
  for (const { input, at } of log) {
    if (input.kind === 'forgotten')
      for (const key of said.keys()) if (key.endsWith(`/${input.userId}`)) said.delete(key)
    if (input.kind === 'lost') lost = Math.max(lost, (at + 60_000) * 1024)
    if (input.kind !== 'observed' && input.kind !== 'sync_ended') continue
    const { audience, syncId: sync, mode } = input
    const closed = over.get(audience) ?? 0
    if (sync <= closed || (mode === 'full' && sync < Math.max(lost, newest.get(audience) ?? 0))) continue
    if (input.kind === 'observed') {
      if (mode === 'full') newest.set(audience, sync)
      const key = `${audience}/${input.userId}`
      const isOfDeleted = Math.min(at, syncBegan(sync)) <= (deletedAt.get(input.userId) ?? 0)
      if (!isOfDeleted && sync >= (said.get(key)?.sync ?? 0)) said.set(key, { value: input.value, sync })
    } else if (mode === 'full') {
      for (const [key, last] of said) if (key.startsWith(`${audience}/`) && last.sync < sync) said.delete(key)
      over.set(audience, sync)
    } else if (at * 1024 - weekOfIds >= closed + dayOfIds) over.set(audience, at * 1024 - weekOfIds)
  }
  return new Map([...said].map(([key, { value }]) => [key, value]))
}
