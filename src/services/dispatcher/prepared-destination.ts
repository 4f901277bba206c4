import { fixedHeaders, RequestBuilder } from '../../core/delivery/request.ts'
import { type RetryRoute, type Routing, routeRetry } from '../../core/delivery/route.ts'
import type { ConcurrencyLimiter, PermitShares } from '../../core/flow/concurrency-limiter.ts'
import type { Count } from '../../core/metrics/metrics.ts'
import type { WebhookCall } from '../../core/ports.ts'
import { revealed } from '../../core/secret.ts'
import type { Destination, PayloadSettings, Webhook } from '../../core/settings/settings.ts'

/** A webhook with the URL, headers and permits that all requests to it share. */
export interface PreparedWebhook extends Omit<Webhook, 'url' | 'headers'>, Pick<WebhookCall, 'url' | 'headers'> {
  readonly permits: PermitShares
  /** Counter of requests that delivered; set at the first one. */
  delivered: Count | undefined
}

/** The configuration that a plan was made from. */
interface PlanSource {
  readonly routing: Routing
  readonly payload: PayloadSettings
}

/**
 * How the deliveries of a destination are handled under one configuration, with everything that its
 * requests need.
 */
export type DestinationPlan = PlanSource & (DeliverPlan | Exclude<RetryRoute, { kind: 'deliver' }>)

export interface DeliverPlan {
  readonly kind: 'deliver'
  readonly isPaused: boolean
  readonly callees: readonly PreparedWebhook[]
  readonly callMaker: RequestBuilder
}

/** A destination with its cached plan. */
interface Planned {
  readonly destination: string
  /** The plan of its last delivery. */
  plan: DestinationPlan | undefined
}

interface Deps {
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly limiter: Pick<ConcurrencyLimiter, 'permitsOf'>
}

/**
 * Returns the plan of a destination. It is made once per configuration and kept in `target`: with
 * 1,000 destinations, a look-up in a map for each delivery would miss the CPU cache, which takes
 * the time of about 100 instructions.
 */
export function planOf(target: Planned, deps: Deps): DestinationPlan {
  const [routing, payload] = [deps.routing(), deps.payload()]
  if (target.plan?.routing === routing && target.plan.payload === payload) return target.plan
  const routed = routeRetry(target.destination, routing)
  const plan = routed.kind === 'deliver' ? open(routed.destination, payload, deps.limiter) : routed
  target.plan = { routing, payload, ...plan }
  return target.plan
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
  { plan }: Pick<Planned, 'plan'>,
  limiter: Pick<ConcurrencyLimiter, 'isHeldByOthers'>,
): boolean => plan?.kind === 'deliver' && plan.callees.every(({ permits }) => limiter.isHeldByOthers(permits))
