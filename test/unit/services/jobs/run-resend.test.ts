import { expect, it } from '@jest/globals'
import { createRouting, type Routing } from '../../../../src/core/delivery/route.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import type { OwnedJob } from '../../../../src/services/jobs/owned-job.ts'
import { runResend } from '../../../../src/services/jobs/run-resend.ts'
import { defaultPolicy, destinationOf, eventOf, recordOf, sourceOf } from '../../../support/builders.ts'
import { resendJob } from '../../../support/jobs/builders.ts'
import { JsonEventCodec } from '../../../support/kafka/json-codec.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

/** Starts a resend of one event in a process whose configuration can change. */
function startResend() {
  const clock = new ManualClock()
  const codec = new JsonEventCodec()
  const record = recordOf({ partition: 0, offset: 0, value: codec.encode(eventOf()) })
  const given = { routing: routingOf(), sent: 0 }
  const append: OwnedJob['producer']['append'] = (_topic, _record, onAck) => {
    given.sent++
    onAck(undefined)
  }
  const owned = { signal: new AbortController().signal, advance() {}, async checkpoint() {}, producer: { append } }
  const outcome = runResend(
    {
      ...{ clock, codec, topics: topicNames('hookline'), policy: defaultPolicy, isStopped: () => false },
      routing: () => given.routing,
      reader: {
        async readToEnd(_topic, onRecord) {
          await onRecord(record)
          return 1
        },
      },
    },
    resendJob('r', { destination: 'late', ends: [1] }),
    owned as unknown as OwnedJob,
  )
  return Object.assign(given, { clock, outcome, settle: () => new Promise<void>(setImmediate) })
}

const routingOf = (...ids: readonly string[]): Routing =>
  createRouting({ sources: [sourceOf('web')], destinations: ids.map(id => destinationOf({ id })) })

it('waits for a destination that only the process that created the job knows yet', async () => {
  const resend = startResend()
  await resend.clock.advance(2_000, resend.settle)
  expect(resend.sent).toBe(0)
  resend.routing = routingOf('late')
  await resend.clock.advance(1_000, resend.settle)
  expect([await resend.outcome, resend.sent]).toEqual([{}, 1])
})

it('fails when the destination is not there after 10 s', async () => {
  const resend = startResend()
  await resend.clock.advance(11_000, resend.settle)
  expect(await resend.outcome).toEqual({
    error: 'destination late is not in the configuration: configure it, then create the resend again',
  })
})
