import { describe, expect, it } from '@jest/globals'
import { flowLimits } from '../../../../src/core/flow/flow-control-constants.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const { stallThresholdMs } = flowLimits.prefetch

const hour = 3_600_000
const isFor = (id: string) => (call: WebhookCall) => call.url.includes(id)

function write(harness: DispatcherHarness, count: number, prefix = 'm'): void {
  for (let index = 0; index < count; index++)
    harness.write({ message: trackMessage(`${prefix}${index}`, { userId: `${prefix}${index}` }) })
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)

/** Returns how many retry records each tick of the event loop writes to the retry topic of 10 s. */
async function copiesPerTick(harness: DispatcherHarness, ms: number): Promise<readonly number[]> {
  const copies = (): number => harness.log.records(harness.topics.retry(10_000 as never)).length
  const perTick: number[] = []
  let before = copies()
  let timer = setImmediate(look)
  function look(): void {
    perTick.push(copies() - before)
    before = copies()
    timer = setImmediate(look)
  }
  await harness.advance(ms)
  clearImmediate(timer)
  return [...perTick, copies() - before]
}

it('fetches records behind those of an endpoint that does not answer, as soon as it is stalled', async () => {
  const harness = await DispatcherHarness.started({
    destinations: [destination('crm'), destination('erp')],
    answer: call => (isFor('crm')(call) ? 'never' : ok),
  })
  const delivered = (): number => harness.count('deliveries{erp,delivered}')
  write(harness, 900)
  await harness.advance(stallThresholdMs - 1)
  expect(delivered()).toBeLessThan(700)
  await harness.advance(50)
  expect(delivered()).toBe(900)
})

describe('the circuit breaker of a destination', () => {
  it('opens when most deliveries fail: later ones are deferred without a request, and use no attempt', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503) })
    write(harness, 10)
    await harness.advance(1)
    expect(harness.calls).toHaveLength(10)
    write(harness, 5, 'later')
    await harness.advance(1)
    expect(harness.calls).toHaveLength(10)
    expect(harness.count('deferrals{breaker_open}')).toBe(5)
    expect(harness.gauge('breakersOpen{crm}')).toBe(1)
    const copies = harness.log
      .records(harness.topics.retry(10_000 as never))
      .filter(({ headers }) => headers['reason'] === 'breaker_open')
    expect(copies.map(({ headers }) => [headers['attempt'], headers['deferrals']])).toEqual(Array(5).fill(['0', '1']))
  })

  it('does not delay responses and other events while queued deliveries are deferred', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503), delivery: { perWebhook: 10 } })
    write(harness, 1_000)
    const perTick = await copiesPerTick(harness, 1)
    expect(sum(perTick)).toBe(1_000)
    expect(Math.max(...perTick)).toBeLessThan(200)
  })

  it('lets one probe through every 30 s, and everything when a probe succeeds', async () => {
    let isDead = true
    const harness = await DispatcherHarness.started({ answer: () => (isDead ? answered(503) : ok) })
    write(harness, 10)
    await harness.advance(29_000)
    const before = harness.calls.length
    await harness.advance(62_000)
    expect(harness.calls.length - before).toBeLessThanOrEqual(3)
    isDead = false
    await harness.advance(hour)
    expect(harness.count('deliveries{crm,delivered}')).toBe(10)
    expect(harness.gauge('breakersOpen{crm}')).toBe(0)
  })

  it('retries deliveries that come due during the probe soon after its end, at the same tier', async () => {
    let isDead = true
    const harness = await DispatcherHarness.started({ answer: () => (isDead ? answered(503) : ok) })
    write(harness, 10)
    await harness.advance(1)
    // The deliveries are deferred for 10 s and then for 30 s. One of them is then the circuit
    // breaker's probe.
    write(harness, 20, 'later')
    await harness.advance(39_000)
    isDead = false
    const called = (): number => harness.calls.filter(({ call }) => call.body.includes('"later')).length
    expect(called()).toBe(0)
    await harness.advance(2_000)
    expect(called()).toBe(1)
    await harness.advance(11_000)
    expect(called()).toBe(20)
  })

  it('does not open for refusals, because those are responses', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(404) })
    write(harness, 50)
    await harness.advance(1)
    expect(harness.calls).toHaveLength(50)
    expect(harness.count('deadLetters{crm,http_4xx}')).toBe(50)
  })

  it('does not open while one of several webhooks works', async () => {
    const webhooks = ['dead', 'works'].map((name, index) => ({
      label: name,
      url: `https://${name}.example.com/`,
      urlHash: String(index).repeat(8),
      traceHeaders: false,
      headers: {},
    }))
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm', { webhooks })],
      answer: call => (call.url.includes('works') ? ok : answered(500)),
    })
    write(harness, 50)
    await harness.advance(1)
    expect(harness.count('deliveries{crm,delivered}')).toBe(50)
  })

  it('gives every delivery one attempt before the end of its window, also while open', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503) })
    write(harness, 12)
    await harness.advance(1)
    write(harness, 3, 'waits')
    await harness.advance(6 * hour)
    const attempted = new Set(harness.calls.map(({ call }) => call.headers['X-Message-Id']))
    expect(attempted.size).toBe(15)
    expect(harness.log.records(harness.topics.deadLetter)).toHaveLength(15)
    for (const { headers } of harness.log.records(harness.topics.deadLetter))
      expect(Number(headers['attempt'])).toBeGreaterThan(0)
  })
})

it('a destination that is down for six hours does not delay another one, and its messages wait in topics', async () => {
  const [batches, batch] = [36, 20]
  let isDown = true
  const harness = await DispatcherHarness.started({
    destinations: [destination('down'), destination('well')],
    answer: call => (isDown && isFor('down')(call) ? answered(503) : ok),
  })
  for (let number = 1; number <= batches; number++) {
    write(harness, batch, `batch${number}-`)
    await harness.advance(1_000)
    expect(harness.count('deliveries{well,delivered}')).toBe(number * batch)
    await harness.advance((6 * hour) / batches - 1_000)
    harness.service.refreshGauges()
    expect(harness.count('recordsOpen{}')).toBeLessThanOrEqual(batch)
  }
  // Messages of the last four hours, the length of the retry window, still wait.
  isDown = false
  await harness.advance(2 * hour)
  const delivered = harness.count('deliveries{down,delivered}')
  expect(delivered).toBeGreaterThan((batches * batch) / 3)
  expect(delivered + harness.log.records(harness.topics.deadLetter).length).toBe(batches * batch)
})

describe('a destination that accepts and never answers', () => {
  it('does not delay another destination: its backlog is deferred, and it uses only its own permits', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('slow'), destination('fast')],
      answer: call => (isFor('slow')(call) ? 'never' : ok),
      delivery: { perWebhook: 10 },
    })
    write(harness, 6_000)
    // The first thousand records reach the partition's prefetch limit. One second later, the
    // dispatcher begins to defer deliveries of `slow`.
    await harness.advance(1_300)
    expect(harness.calls.filter(({ call }) => isFor('fast')(call))).toHaveLength(6_000)
    expect(harness.calls.filter(({ call }) => isFor('slow')(call))).toHaveLength(10)
    expect(harness.count('deferrals{lane_full}')).toBeGreaterThan(3_000)
    expect(harness.count('deliveries{fast,deferred}')).toBe(0)
  })

  it('does not delay responses and other events while its backlog is deferred', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('slow'), destination('fast')],
      answer: call => (isFor('slow')(call) ? 'never' : ok),
      delivery: { perWebhook: 10 },
    })
    write(harness, 1_100)
    const perTick = await copiesPerTick(harness, 1_300)
    expect(sum(perTick)).toBe(1_090)
    expect(Math.max(...perTick)).toBeLessThan(200)
  })

  it.each([
    { name: 'a second after the process has free CPU again', outOfCpuFor: 4_000, movedBy: 5_400 },
    { name: 'after ten seconds without free CPU', outOfCpuFor: Number.POSITIVE_INFINITY, movedBy: 10_600 },
  ])('its backlog is deferred $name', async ({ outOfCpuFor, movedBy }) => {
    const harness: DispatcherHarness = await DispatcherHarness.started({
      destinations: [destination('slow'), destination('fast')],
      answer: call => (isFor('slow')(call) ? 'never' : ok),
      delivery: { perWebhook: 10 },
      cpuSaturatedUntil: () => Math.min(harness.clock.monotonic(), startedAt + outOfCpuFor),
    })
    const startedAt = harness.clock.monotonic()
    write(harness, 1_100)
    await harness.advance(movedBy - 600)
    expect(harness.count('deferrals{lane_full}')).toBe(0)
    await harness.advance(600)
    expect(harness.count('deferrals{lane_full}')).toBe(1_090)
  })

  it('a fast destination is not deferred, however large a burst is', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('narrow'), destination('wide')],
      delivery: { perWebhook: 10 },
    })
    write(harness, 6_000)
    await harness.advance(1_300)
    expect(harness.calls).toHaveLength(12_000)
    expect(harness.count('deferrals{lane_full}')).toBe(0)
  })

  it('when it is alone in the partition, the partition waits and nothing is deferred', async () => {
    const harness = await DispatcherHarness.started({ answer: () => 'never', delivery: { perWebhook: 10 } })
    for (let batch = 0; batch < 6; batch++) {
      write(harness, 1_000, `batch${batch}-`)
      await harness.advance(1)
    }
    expect(harness.count('deferrals{lane_full}')).toBe(0)
    harness.service.refreshGauges()
    expect(harness.count('recordsOpen{}')).toBeLessThanOrEqual(3_000)
  })

  it('25 of 50 hang; the other 25 get all messages', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `${index < 25 ? 'dead' : 'well'}${index}`)
    const harness = await DispatcherHarness.started({
      destinations: ids.map(id => destination(id)),
      answer: call => (isFor('dead')(call) ? 'never' : ok),
      delivery: { maxInFlight: 512, perWebhook: 64 },
    })
    write(harness, 300)
    await harness.advance(1)
    expect(harness.calls.filter(({ call }) => isFor('well')(call))).toHaveLength(25 * 300)
  })

  it('each of many destinations gets a turn for few permits, though some of them hang', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `${index % 50 === 0 ? 'dead' : 'well'}${index}`)
    const harness = await DispatcherHarness.started({
      destinations: ids.map(id => destination(id)),
      answer: call => (isFor('dead')(call) ? 'never' : ok),
      delivery: { maxInFlight: 20 },
    })
    write(harness, 5)
    await harness.advance(1)
    const perDestination = Map.groupBy(
      harness.calls.filter(({ call }) => isFor('well')(call)),
      ({ call }) => call.url,
    )
    expect(perDestination.size).toBe(294)
    for (const calls of perDestination.values()) expect(calls).toHaveLength(5)
  })
})

describe('a destination whose retries become due later than their retry topic releases them', () => {
  function times(harness: DispatcherHarness, host: string, id: string): readonly number[] {
    const of = harness.calls.filter(({ call }) => isFor(host)(call) && call.headers['X-Message-Id'] === id)
    return of.map(({ at }) => at - (of[0]?.at ?? 0))
  }

  it('does not delay the retries of another destination, and each retry is deferred at most once', async () => {
    const failed = new Set<string>()
    const harness = await DispatcherHarness.started({
      destinations: [destination('later', { policy: { schedule: [durationMs(20_000)] } }), destination('crm')],
      answer(call) {
        const id = call.headers['X-Message-Id'] as string
        const failsOnce = isFor('crm')(call) ? id === 'm999' : /[13579]$/.test(id)
        if (!failsOnce || failed.has(call.url + id)) return ok
        failed.add(call.url + id)
        return answered(503)
      },
    })
    write(harness, 1_000)
    await harness.advance(60_000)
    expect(times(harness, 'crm', 'm999')).toEqual([0, 10_000])
    const waits = Array.from({ length: 500 }, (_, index) => times(harness, 'later', `m${2 * index + 1}`)[1] as number)
    expect(Math.min(...waits)).toBe(20_000)
    expect(Math.max(...waits)).toBeLessThan(20_100)
    const deferred = harness.count('deferrals{not_before}')
    expect(deferred).toBeGreaterThan(0)
    expect(deferred).toBeLessThanOrEqual(500)
  })
})
