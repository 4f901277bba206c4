import { describe, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { startAudienceInstallation, users } from '../support/audience/installation.ts'
import type { AudienceReceiver } from '../support/audience/receiver.ts'
import { closingAfterEach } from '../support/cleanup.ts'

const closing = closingAfterEach()
/** Number of members. A long run uses AUDIENCE_MEMBERS=200000 and AUDIENCE_KILLS=10. */
const size = Number(process.env['AUDIENCE_MEMBERS'] || 12_000)
const kills = Number(process.env['AUDIENCE_KILLS'] || 3)
const changed = size / 100
/** Time limit of the test, in ms. Even a busy machine delivers 300 members per second. */
const timeLimit = 120_000 + size * 6

describe('syncs of an audience', () => {
  it(
    `give the receiver the exact members although the process is killed ${kills} times in each of two syncs: ${size} members, then 1 % changed`,
    async () => {
      const installation = closing(await startAudienceInstallation(['crm']))
      const crm = installation.receivers.get('crm') as AudienceReceiver
      let service: RunningService = await installation.run()

      /** Spreads `kills` kills evenly over the messages `from` to `to` that `crm` accepts. */
      async function killInBetween(from: number, to: number): Promise<void> {
        for (let kill = 1; kill <= kills; kill++) {
          const next = from + Math.floor(((to - from) * kill) / (kills + 1))
          await crm.until(() => crm.taken.size >= next)
          await service.kill()
          service = await installation.run()
        }
      }

      await installation.sync(users(0, size))
      await killInBetween(0, size)
      await installation.sync(users(0, size), { wait: true })
      expect(crm.members()).toEqual(new Set(users(0, size)))
      expect(crm.taken.size).toBe(size)

      const syncing = installation.sync(users(changed, size + changed), { wait: true })
      await killInBetween(size, size + 2 * changed)
      await syncing
      expect(crm.members()).toEqual(new Set(users(changed, size + changed)))
      expect(crm.taken.size).toBe(size + 2 * changed)
      expect(crm.toldAgain).toEqual([])
      // After a kill, uncommitted changes and changes in progress are sent again with the same id.
      expect(crm.duplicates).toBeLessThan(kills * 2 * 2_000)
      expect(await service.stop()).toBe(0)
    },
    timeLimit,
  )
})
