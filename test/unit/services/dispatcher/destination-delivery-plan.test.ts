import { describe, expect, it } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { ConcurrencyLimiter } from '../../../../src/core/flow/concurrency-limiter.ts'
import { Secret } from '../../../../src/core/secret.ts'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { epochMs } from '../../../../src/core/time.ts'
import {
  type DeliverPlan,
  type DestinationPlan,
  planOf,
} from '../../../../src/services/dispatcher/destination-delivery-plan.ts'
import { DestinationQueues } from '../../../../src/services/dispatcher/destination-queues.ts'
import {
  defaultDelivery,
  defaultPayload,
  defaultPolicy,
  destinationOf,
  duration,
  durations,
  sourceOf,
  webhookOf,
} from '../../../support/builders.ts'

const routingTo = (...destinations: Destination[]) => createRouting({ sources: [sourceOf('web')], destinations })
const crm = destinationOf({ id: 'crm', secrets: [new Secret('s')], webhooks: [webhookOf(0, { 'X-Tenant': '0' })] })

function setUp() {
  const limiter = new ConcurrencyLimiter({ maxInFlight: 9, perWebhook: 1, perHost: 9 })
  const target = new DestinationQueues(limiter).of('crm')
  const given = { routing: routingTo(crm), payload: defaultPayload }
  const route = (): DestinationPlan =>
    planOf(target, {
      routing: () => given.routing,
      payload: () => given.payload,
      delivery: defaultDelivery,
      policy: defaultPolicy,
      limiter,
      authorize: () => undefined,
    })
  return { limiter, target, given, route }
}

const headersOf = ({ preparedWebhooks, requestBuilder }: DeliverPlan): Readonly<Record<string, string>> | undefined =>
  requestBuilder.calls(preparedWebhooks, { body: Buffer.from('{}'), messageId: 'm', at: epochMs(0) })[0]?.headers

describe('the route of a destination', () => {
  it('is made once per configuration', () => {
    const { route } = setUp()
    expect(route()).toBe(route())
  })

  it('keeps its requests when only another destination changes', () => {
    const { given, route } = setUp()
    const before = route() as DeliverPlan
    given.routing = routingTo(crm, destinationOf({ id: 'erp' }))
    const after = route() as DeliverPlan
    expect(after).toMatchObject({ preparedWebhooks: before.preparedWebhooks })
    expect(Object.values(after)).toContain(given.routing.version)
    // A destination that rarely gets an event must not keep an old routing in memory.
    expect(Object.values(after)).not.toContain(given.routing)
    expect(after.requestBuilder).toBe(before.requestBuilder)
  })

  it('has the headers of its requests', () => {
    expect(headersOf(setUp().route() as DeliverPlan)).toMatchObject({
      'User-Agent': 'Hookline/1.0',
      'X-Tenant': '0',
      'X-Message-Id': 'm',
      'X-Signature': expect.stringMatching(/^[0-9a-f]{40}$/),
    })
  })

  it.each<[string, (given: ReturnType<typeof setUp>['given']) => void, Partial<DestinationPlan>]>([
    [
      'it is paused',
      given => (given.routing = routingTo({ ...crm, paused: true })),
      { kind: 'deliver', isPaused: true },
    ],
    ['it is disabled', given => (given.routing = routingTo({ ...crm, enabled: false })), { kind: 'dropped' }],
    ['it is removed', given => (given.routing = routingTo()), { kind: 'dead_lettered', reason: 'unknown_destination' }],
  ])('follows a change of the configuration: %s', (_, edit, expected) => {
    const { given, route } = setUp()
    expect(route()).toMatchObject({ kind: 'deliver', isPaused: false })
    edit(given)
    expect(route()).toMatchObject(expected)
  })

  it('follows a change of the payload settings', () => {
    const { given, route } = setUp()
    route()
    given.payload = { ...defaultPayload, userAgent: 'Acme' }
    expect(headersOf(route() as DeliverPlan)).toMatchObject({ 'User-Agent': 'Acme/1.0' })
  })

  it('has the own schedule, window and timeout of the destination, and the global ones after they are removed', () => {
    const { given, route } = setUp()
    const policy = { timeout: duration('2s'), schedule: durations('10s 20s'), window: duration('1h') }
    given.routing = routingTo({ ...crm, policy, lifecycle: { pauseKeepsWindow: true } })
    const { schedule, window } = policy
    expect(route()).toMatchObject({
      policy: { schedule, window, tiers: defaultPolicy.tiers, pauseKeepsWindow: true },
      preparedWebhooks: [{ timeoutMs: 2_000 }],
    })
    given.routing = routingTo(crm)
    expect(route()).toMatchObject({ policy: defaultPolicy, preparedWebhooks: [{ timeoutMs: 5_000 }] })
  })

  it('counts a request in progress at its webhook also after a change', () => {
    const { limiter, target, given, route } = setUp()
    const roomNow = () => (route() as DeliverPlan).preparedWebhooks[0]!.permits
    const before = roomNow()
    limiter.acquire(target, before)
    given.routing = routingTo({ ...crm, webhooks: crm.webhooks.map(webhook => ({ ...webhook })) })
    expect(limiter.hasPermit(roomNow())).toBe(false)
    limiter.release(target, before)
    expect(limiter.hasPermit(roomNow())).toBe(true)
  })
})
