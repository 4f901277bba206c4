import { describe, expect, it } from '@jest/globals'
import { type AudienceInstallation, startAudienceInstallation, users } from '../support/audience/installation.ts'
import type { AudienceReceiver } from '../support/audience/receiver.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { createAdminClient, until } from '../support/kafka/admin.ts'

const closing = closingAfterEach()
const receiverOf = ({ receivers }: AudienceInstallation, id: string): AudienceReceiver =>
  receivers.get(id) as AudienceReceiver

describe('memberships on a compacted topic', () => {
  it('are restored from it: a sync with 1 % changes sends exactly those', async () => {
    const size = 3_000
    const changed = size / 100
    const audienceInstallation = closing(await startAudienceInstallation(['crm']))
    const crm = receiverOf(audienceInstallation, 'crm')
    const { installation } = audienceInstallation
    const { memberships } = installation.topics
    const admin = closing(await createAdminClient())
    await admin.setTopicConfig(memberships, {
      'cleanup.policy': 'compact',
      'segment.ms': '100',
      'min.cleanable.dirty.ratio': '0.01',
      'min.compaction.lag.ms': '0',
      'max.compaction.lag.ms': '1000',
      'delete.retention.ms': '0',
    })
    const first = await audienceInstallation.run()
    await audienceInstallation.sync(users(0, size), { wait: true })
    expect([crm.members().size, crm.taken.size]).toEqual([size, size])
    await first.kill()

    // Write the last record of each partition again, because the log cleaner skips the active
    // segment.
    const last = new Map((await installation.read(memberships)).map(record => [record.partition, record]))
    await installation.write(memberships, [...last.values()])
    // The log cleaner has removed the states of changes in progress: only the last state of each
    // user is left.
    await until(async () => (await installation.read(memberships)).length < size * 1.1 || undefined)
    const second = await audienceInstallation.run()
    await audienceInstallation.sync(users(changed, size + changed), { wait: true })
    expect(crm.members()).toEqual(new Set(users(changed, size + changed)))
    expect(crm.taken.size).toBe(size + 2 * changed)
    expect(crm.toldAgain).toEqual([])
    const metrics = await second.metrics()
    expect(metrics.get('hookline_audience_memberships')).toBe(size)
    expect(metrics.get('hookline_audience_identifies_total{destination="crm"}')).toBe(2 * changed)
    expect(metrics.get('hookline_audience_restore_seconds_count')).toBe(4)
    expect(await second.stop()).toBe(0)
  })
})

describe('a customer that is down during a sync', () => {
  it('gets the missed changes with the next sync, and no others; another destination gets nothing', async () => {
    // There is one attempt, so a failure is dead-lettered immediately.
    const audienceInstallation = closing(await startAudienceInstallation(['crm', 'erp'], { schedule: [] }))
    const [crm, erp] = [receiverOf(audienceInstallation, 'crm'), receiverOf(audienceInstallation, 'erp')]
    const service = await audienceInstallation.run()
    await audienceInstallation.sync(users(0, 200), { wait: true })
    expect([crm.taken.size, erp.taken.size]).toEqual([200, 200])

    const missed = new Set(users(200, 260))
    crm.answer = userId => (missed.has(userId) ? 400 : 200)
    await expect(audienceInstallation.sync(users(0, 300), { wait: true })).rejects.toThrow('60 changes not delivered')
    expect([crm.taken.size, erp.taken.size]).toEqual([240, 300])

    crm.answer = () => 200
    await audienceInstallation.sync(users(0, 300), { wait: true })
    expect([crm.taken.size, erp.taken.size]).toEqual([300, 300])
    for (const receiver of [crm, erp]) {
      expect(receiver.members()).toEqual(new Set(users(0, 300)))
      expect(receiver.toldAgain).toEqual([])
      expect(receiver.duplicates).toBe(0)
    }
    expect(await service.stop()).toBe(0)
  })
})
