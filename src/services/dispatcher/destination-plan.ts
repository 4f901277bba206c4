import { fixedHeaders, RequestBuilder } from '../../core/delivery/request.ts'
import { type RetryRoute, type Routing, routeRetry } from '../../core/delivery/route.ts'
import type { ConcurrencyLimiter, PermitShares } from '../../core/flow/concurrency-limiter.ts'
import type { Count } from '../../core/metrics/metrics.ts'
import type { WebhookCall } from '../../core/ports.ts'
import type { Destination, PayloadSettings, Webhook } from '../../core/settings/settings.ts'
import { revealed } from '../../core/units.ts'

/** A webhook with the URL, headers and permits that all requests to it share. */
export interface PreparedWebhook extends Omit<Webhook, 'url' | 'headers'>, Pick<WebhookCall, 'url' | 'headers'> {
  readonly permits: PermitShares
  /** Counter of requests that delivered; set at the first one. */
  delivered: Count | undefined
}

/** The configuration that a route was made from. */
interface RouteSource {
  readonly routing: Routing
  readonly payload: PayloadSettings
}

/**
 * How the deliveries of a destination are handled under one configuration, with everything that its
 * requests need.
 */
export type DestinationPlan = RouteSource & (DeliverPlan | Exclude<RetryRoute, { kind: 'deliver' }>)

export interface DeliverPlan {
  readonly kind: 'deliver'
  readonly isPaused: boolean
  readonly callees: readonly PreparedWebhook[]
  readonly callMaker: RequestBuilder
}

/** A destination with its cached route. */
interface Routed {
  readonly destination: string
  /** The route of its last delivery. */
  route: DestinationPlan | undefined
}

interface Deps {
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly limiter: Pick<ConcurrencyLimiter, 'permitsOf'>
}

/**
 * Returns the route of a destination, which is made once per configuration. A look-up for each
 * delivery would take the time of about 100 instructions, because with 1,000 destinations it misses
 * the CPU cache.
 */
export function planOf(target: Routed, deps: Deps): DestinationPlan {
  const [routing, payload] = [deps.routing(), deps.payload()]
  if (target.route?.routing === routing && target.route.payload === payload) return target.route
  const routed = routeRetry(target.destination, routing)
  const route = routed.kind === 'deliver' ? open(routed.destination, payload, deps.limiter) : routed
  target.route = { routing, payload, ...route }
  return target.route
}

function open(destination: Destination, payload: PayloadSettings, limiter: Deps['limiter']): DeliverPlan {
  const { paused: isPaused, webhooks } = destination
  const callees = webhooks.map((webhook): PreparedWebhook => {
    const url = revealed(webhook.url)
    const headers = fixedHeaders(webhook, payload)
    return { ...webhook, url, headers, permits: limiter.permitsOf(webhook, destination.id), delivered: undefined }
  })
  return { kind: 'deliver', isPaused, callees, callMaker: new RequestBuilder(destination, payload) }
}

/**
 * Whether a destination waits only for permits that other destinations hold. Then its own endpoints
 * are not the cause.
 */
export const isHeldUpByOthers = (
  { route }: Pick<Routed, 'route'>,
  limiter: Pick<ConcurrencyLimiter, 'isHeldByOthers'>,
): boolean => route?.kind === 'deliver' && route.callees.every(({ permits }) => limiter.isHeldByOthers(permits))
