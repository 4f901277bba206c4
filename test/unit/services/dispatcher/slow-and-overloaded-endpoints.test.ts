import { expect, it } from '@jest/globals'
import { flowLimits } from '../../../../src/core/flow/flow-control-constants.ts'
import type { DestinationPolicy } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { CallResult, WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const { neverSlowMs } = flowLimits.concurrency

const isForCrm = (call: WebhookCall): boolean => call.url.includes('crm')

it('an endpoint that answers 200 slowly does not delay records behind a run of its own', async () => {
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm'), destination('erp')],
    latencyMs: call => (isForCrm(call) ? 4_900 : 20),
    delivery: { maxInFlight: 512, perWebhook: 64 },
  })
  for (let index = 0; index < 4_000; index++)
    harness.write({ message: trackMessage(`m${index}`, { userId: `m${index}` }), destinationId: 'crm' })
  harness.write({ message: trackMessage('last', { userId: 'last' }), destinationId: 'erp' })
  await harness.advance(15_000)
  expect(harness.count('deliveries{erp,delivered}')).toBe(1)
})

const timeout: CallResult = { kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT', detail: '' }

it.each([
  { name: 'hangs', answerAt: () => timeout },
  { name: 'answers 200 slowly', answerAt: () => ok },
  { name: 'lets two of three requests time out', answerAt: (count: number) => (count % 3 === 0 ? ok : timeout) },
])('an endpoint that $name for longer than the window does not delay retries of others', async ({ answerAt }) => {
  const failed = new Map<string, number>()
  const waits: number[] = []
  let crmCalls = 0
  const harness = await DispatcherHarness.started({
    delivery: { schedule: [durationMs(10_000)], window: durationMs(60_000), maxInFlight: 64, perWebhook: 16 },
    destinations: [destination('crm'), destination('erp')],
    latencyMs: call => (isForCrm(call) ? 4_900 : 20),
    answer(call, at) {
      if (isForCrm(call)) return answerAt(crmCalls++)
      const id = call.headers['X-Message-Id'] as string
      const before = failed.get(id)
      if (before !== undefined) waits.push(at - before)
      failed.set(id, before ?? at)
      return before === undefined ? answered(503) : ok
    },
  })
  for (let second = 0; second < 300; second++) {
    for (let index = 0; index < 30; index++) {
      const id = `m${second}-${index}`
      harness.write({ message: trackMessage(id, { userId: id }), destinationId: 'crm' })
    }
    if (second % 5 === 0)
      harness.write({ message: trackMessage(`e${second}`, { userId: `e${second}` }), destinationId: 'erp' })
    await harness.advance(1_000)
  }
  expect(waits.length).toBeGreaterThan(55)
  expect(Math.max(...waits)).toBeLessThan(15_000)
})

it('an endpoint that answers 200 slowly gets each message of a backlog, also after the window', async () => {
  const harness = await DispatcherHarness.started({
    delivery: { schedule: [durationMs(10_000)], window: durationMs(30_000), maxInFlight: 64, perWebhook: 16 },
    destinations: [destination('crm'), destination('erp')],
    latencyMs: call => (isForCrm(call) ? 4_900 : 20),
  })
  for (let index = 0; index < 1_500; index++)
    harness.write({ message: trackMessage(`m${index}`, { userId: `m${index}` }) })
  // The endpoint accepts 16 messages in 4.9 s, so the backlog takes at least 460 s.
  await harness.advance(800_000)
  expect(harness.count('deliveries{crm,delivered}')).toBe(1_500)
  expect(harness.count('deliveries{erp,delivered}')).toBe(1_500)
  expect(harness.calls).toHaveLength(3_000)
})

it.each<DestinationPolicy>([{}, { ratePerSecond: 5 }, { maxConcurrency: 8 }])(
  'an endpoint that always asks for a pause gets each message once, and few records wait in turn: %j',
  async policy => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { policy })],
      delivery: { schedule: [durationMs(10_000)], window: durationMs(120_000), maxInFlight: 512, perWebhook: 64 },
      answer: () => answered(503, '60'),
    })
    for (let second = 0; second < 240; second++) {
      for (const id of [`m${second}`, `n${second}`]) harness.write({ message: trackMessage(id, { userId: id }) })
      await harness.advance(1_000)
    }
    await harness.advance(240_000)
    const attempted = new Set(harness.calls.map(({ call }) => call.headers['X-Message-Id']))
    expect(attempted.size).toBe(480)
    expect(harness.count('deliveries{crm,dead_lettered}')).toBe(480)
    expect(harness.count('deliveries{crm,deferred}')).toBeLessThan(480 * 10)
  },
)

it('an endpoint without a limit gets all messages at the end of a pause after a 503', async () => {
  let isOverloaded = false
  const harness = await DispatcherHarness.started({
    delivery: { schedule: [durationMs(10_000)], window: durationMs(600_000) },
    answer: () => (isOverloaded ? answered(503, '20') : ok),
  })
  const send = (id: string): void => harness.write({ message: trackMessage(id, { userId: id }) })
  send('before')
  await harness.advance(10_000)
  isOverloaded = true
  send('refused')
  await harness.advance(1_000)
  isOverloaded = false
  for (let index = 0; index < 40; index++) send(`m${index}`)
  await harness.advance(35_000)
  expect(harness.count('deliveries{crm,delivered}')).toBe(42)
})

it('an endpoint that is overloaded for a short time gets the late messages after its pause', async () => {
  let isOverloaded = false
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm', { policy: { ratePerSecond: 5 } })],
    delivery: { schedule: [durationMs(10_000)], window: durationMs(60_000), maxInFlight: 512, perWebhook: 64 },
    answer: () => (isOverloaded ? answered(503, '5') : ok),
  })
  for (let index = 0; index < 900; index++)
    harness.write({ message: trackMessage(`m${index}`, { userId: `m${index}` }) })
  await harness.advance(80_000)
  isOverloaded = true
  await harness.advance(5_000)
  isOverloaded = false
  await harness.advance(300_000)
  expect(harness.count('deliveries{crm,dead_lettered}')).toBeLessThanOrEqual(2)
  expect(harness.count('deliveries{crm,delivered}') + harness.count('deliveries{crm,dead_lettered}')).toBe(900)
})

it('an endpoint that is overloaded for a short time after a restart gets the late messages after its pause', async () => {
  let isOverloaded = false
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm', { policy: { ratePerSecond: 5 } }), destination('erp')],
    delivery: { schedule: [durationMs(10_000)], window: durationMs(60_000), maxInFlight: 64, perWebhook: 2 },
    latencyMs: () => 20,
    answer: () => (isOverloaded ? answered(503, '5') : ok),
  })
  for (let index = 0; index < 3_000; index++)
    harness.write({ message: trackMessage(`m${index}`, { userId: `m${index}` }) })
  await harness.advance(70_000)
  isOverloaded = true
  await harness.restart()
  await harness.advance(5_000)
  expect(harness.count('deliveries{crm,dead_lettered}')).toBeLessThanOrEqual(2)
  isOverloaded = false
  const before = harness.count('deliveries{crm,delivered}')
  await harness.advance(10_000)
  expect(harness.count('deliveries{crm,delivered}') - before).toBeGreaterThan(40)
  expect(harness.count('deliveries{crm,dead_lettered}')).toBeLessThanOrEqual(2)
})

it.each([undefined, '12', '60', '290'])(
  'an endpoint that always responds with 429 lets each delivery move about once in five minutes: Retry-After %s',
  async retryAfter => {
    const harness = await DispatcherHarness.started({
      delivery: { maxInFlight: 64, perWebhook: 64 },
      destinations: [destination('crm'), destination('erp')],
      answer: call => (isForCrm(call) ? answered(429, retryAfter) : ok),
    })
    for (let second = 0; second < 1_200; second++) {
      for (let index = 0; index < 5; index++) {
        const id = `m${second}-${index}`
        harness.write({ message: trackMessage(id, { userId: id }) })
      }
      await harness.advance(1_000)
    }
    expect(harness.count('deliveries{erp,delivered}')).toBe(6_000)
    // On average, a delivery has waited for ten minutes, with about one deferral every five
    // minutes.
    expect(harness.count('deliveries{crm,deferred}')).toBeLessThan(6_000 * 2.75)
  },
)

it('an endpoint with a quota for each minute gets all of it, and its backlog does not move in each pause', async () => {
  let minute = 0
  let used = 0
  const harness = await DispatcherHarness.started({
    delivery: { maxInFlight: 64, perWebhook: 64 },
    destinations: [destination('crm'), destination('erp')],
    answer(call, at) {
      if (!isForCrm(call)) return ok
      const current = Math.floor(at / 60_000)
      if (current > minute) used = 0
      minute = current
      return used++ < 60 ? ok : answered(429, String(Math.ceil(60 - (at % 60_000) / 1_000)))
    },
    latencyMs: () => 50,
  })
  for (let second = 0; second < 600; second++) {
    for (let index = 0; index < 3; index++) {
      const id = `m${second}-${index}`
      harness.write({ message: trackMessage(id, { userId: id }) })
    }
    await harness.advance(1_000)
  }
  expect(harness.count('deliveries{crm,delivered}')).toBeGreaterThanOrEqual(600)
  expect(harness.count('deliveries{crm,dead_lettered}')).toBe(0)
  // Of 1,800 deliveries, about 600 have ended. In the ten pauses, a delivery was deferred fewer
  // than four times on average.
  expect(harness.count('deliveries{crm,deferred}')).toBeLessThan(1_800 * 4)
})

it.each([
  { name: 'stay in memory', latencyMs: neverSlowMs, hasMoved: false },
  { name: 'move to a retry topic', latencyMs: neverSlowMs + 1, hasMoved: true },
])(
  'while an endpoint hangs, deliveries to endpoints that take $latencyMs ms $name',
  async ({ latencyMs, hasMoved }) => {
    const harness = await DispatcherHarness.started({
      destinations: ['crm', 'erp', 'app'].map(id => destination(id)),
      answer: call => (isForCrm(call) ? 'never' : ok),
      latencyMs: () => latencyMs,
      delivery: { maxInFlight: 32 },
    })
    for (let index = 0; index < 2_500; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `m${index}` }) })
    // The endpoint that hangs holds 28 of the 32 permits until its requests time out.
    await harness.advance(4_900)
    expect(harness.count('deliveries{crm,deferred}')).toBeGreaterThan(900)
    for (const id of ['erp', 'app']) {
      expect(harness.count(`deliveries{${id},delivered}`)).toBeGreaterThan(50)
      expect(harness.count(`deliveries{${id},deferred}`) > 0).toBe(hasMoved)
    }
  },
)
