import { CallMaker, standingHeaders } from '../../core/delivery/request.ts'
import { type ParkedRoute, type Routing, routeParked } from '../../core/delivery/route.ts'
import type { ConcurrencyLimiter, Permits } from '../../core/flow/concurrency-limiter.ts'
import type { Count } from '../../core/metrics/metrics.ts'
import type { WebhookCall } from '../../core/ports.ts'
import type { Destination, PayloadSettings, Webhook } from '../../core/settings/settings.ts'
import { revealed } from '../../core/units.ts'

/** A webhook with what all calls of a destination to it share: its headers stay the same from call to call. */
export interface Callee extends Omit<Webhook, 'url' | 'headers'>, Pick<WebhookCall, 'url' | 'headers'> {
  readonly permits: Permits
  /** Calls that delivered; from the first one on. */
  delivered: Count | undefined
}

/** What a route was made of. */
interface Made {
  readonly routing: Routing
  readonly payload: PayloadSettings
}

/** Where a destination's deliveries go by one state of the configuration, with all that its calls need. */
export type DestinationRoute = Made & (Open | Exclude<ParkedRoute, { kind: 'deliver' }>)

export interface Open {
  readonly kind: 'deliver'
  readonly isPaused: boolean
  readonly callees: readonly Callee[]
  readonly callMaker: CallMaker
}

/** A destination that keeps its route. */
interface Routed {
  readonly destination: string
  /** As of its last delivery. */
  route: DestinationRoute | undefined
}

interface Deps {
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly limiter: Pick<ConcurrencyLimiter, 'permitsOf'>
}

/**
 * The route of a destination, made once for each state of the configuration. It is not looked up for
 * each delivery: with 1,000 destinations each look-up misses the cache and costs about 100 instructions.
 */
export function routeOf(target: Routed, deps: Deps): DestinationRoute {
  const [routing, payload] = [deps.routing(), deps.payload()]
  if (target.route?.routing === routing && target.route.payload === payload) return target.route
  const parked = routeParked(target.destination, routing)
  const route = parked.kind === 'deliver' ? open(parked.destination, payload, deps.limiter) : parked
  target.route = { routing, payload, ...route }
  return target.route
}

function open(destination: Destination, payload: PayloadSettings, limiter: Deps['limiter']): Open {
  const { paused: isPaused, webhooks } = destination
  const callees = webhooks.map((webhook): Callee => {
    const url = revealed(webhook.url)
    const headers = standingHeaders(webhook, payload)
    return { ...webhook, url, headers, permits: limiter.permitsOf(webhook, destination.id), delivered: undefined }
  })
  return { kind: 'deliver', isPaused, callees, callMaker: new CallMaker(destination, payload) }
}

/** Whether a destination waits for permits that others hold: that says nothing of its own endpoints. */
export const isHeldUpByOthers = (
  { route }: Pick<Routed, 'route'>,
  limiter: Pick<ConcurrencyLimiter, 'isHeldByOthers'>,
): boolean => route?.kind === 'deliver' && route.callees.every(({ permits }) => limiter.isHeldByOthers(permits))
