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

    // Kafka does not compact the active segment. After `segment.ms`, this append makes Kafka begin
    // a new one.
    const last = new Map((await installation.read(memberships)).map(record => [record.partition, record]))
    await installation.write(memberships, [...last.values()])
    // Waits until compaction has left only the last state of each user.
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
