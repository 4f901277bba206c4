import { parseArgs } from 'node:util'
import { AudiencePartition } from '../../../src/core/audience/audience-partition.ts'
import { audienceDirectory } from '../../../src/core/audience/configured-audiences.ts'
import { membershipKey, toMembershipRecord } from '../../../src/core/audience/membership-and-watermark-records.ts'
import { newSyncId } from '../../../src/core/audience/sync-id.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import { epochMs } from '../../../src/core/time.ts'

/*
 * Measures the CPU time per member of a restoration, a full sync without changes, and its end. Also
 * prints the memory.
 */

const { values } = parseArgs({ options: { members: { type: 'string', default: '2000000' } } })
const members = Number(values.members)
const partitions = 12
const start = epochMs(Date.now())
const sync = newSyncId(start, 'first')
const directory = audienceDirectory({
  audiences: { emitPerSecond: 500, list: [{ name: 'Shoppers', kind: 'audience', destinations: ['crm'] }] },
  destinations: [{ id: 'crm', enabled: true, paused: false, sources: ['web'], secrets: [], webhooks: [] }],
})
const partition = Array.from(
  { length: partitions },
  () =>
    new AudiencePartition({
      directory: () => directory,
      stops: () => undefined,
      inputEnd: Number.MAX_SAFE_INTEGER,
    }),
)
const userOf = (member: number): string => `6f9619ff-8b86-d011-b42d-${String(member).padStart(12, '0')}`
const record = toMembershipRecord({
  desired: 'true' as JsonText,
  acknowledged: 'true' as JsonText,
  inFlight: undefined,
  version: sync + 1,
  syncId: sync,
  unconfirmed: undefined,
  position: 1,
})

function timed(what: string, count: number, run: () => void): void {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  const perSecond = Math.round(count / ((user + system) / 1e6))
  console.log(`${what.padEnd(28)} ${perSecond.toLocaleString('en').padStart(12)} members a CPU second`)
}

timed('restored', members, () => {
  for (let member = 0; member < members; member++) {
    const key = membershipKey({ audience: 'Shoppers', userId: userOf(member), destination: 'crm' })
    partition[member % partitions]?.records.restore({ key, value: record, position: record.position })
  }
})
const next = newSyncId(epochMs(start + 60_000), 'second')
let changes = 0
timed('observed, unchanged', members, () => {
  for (let member = 0; member < members; member++) {
    const input = {
      kind: 'observed',
      audience: 'Shoppers',
      userId: userOf(member),
      value: 'true' as JsonText,
      syncId: next,
      mode: 'full',
    } as const
    const context = { position: member + 10, at: epochMs(start + 60_000), now: () => start }
    for (const _ of partition[member % partitions]?.applyInput(input, context) ?? []) changes++
  }
})
timed('sync ended, nobody left', members, () => {
  for (const each of partition) {
    const context = { position: members + 10, at: epochMs(start + 120_000), now: () => start }
    const input = { kind: 'sync_ended', audience: 'Shoppers', syncId: next, mode: 'full' } as const
    for (const { kind } of each.applyInput(input, context)) if (kind !== 'visited') changes++
  }
})
const bytes = partition.reduce((sum, each) => sum + each.size().bytes, 0)
const { rss } = process.memoryUsage()
console.log(
  `${Math.round(bytes / members)} bytes a member; ${Math.round(rss / 1_048_576)} MiB resident; ${changes} changes`,
)
