import { isWatched, urlHashesOf } from '../../core/auto-disable/judge-failures.ts'
import { fixedHeaders, RequestBuilder } from '../../core/delivery/build-and-sign-requests.ts'
import type { RetryPolicy } from '../../core/delivery/retry-tier.ts'
import { type RetryRoute, type Routing, routeRetry } from '../../core/delivery/route.ts'
import type { ConcurrencyLimiter, PermitShares } from '../../core/flow/concurrency-limiter.ts'
import { murmur2 } from '../../core/message/murmur2.ts'
import type { Count } from '../../core/metrics/metrics.ts'
import { revealed } from '../../core/secret.ts'
import { type DeliveryRules, effectivePolicy } from '../../core/settings/effective-policy.ts'
import type { Destination, PayloadSettings, Webhook } from '../../core/settings/settings.ts'
import type { WebhookCall } from '../../core/webhook-ports.ts'
import type { Authorize, AuthorizedTransport } from './authorized-transport.ts'

/** A webhook, with the values that all requests to it share. */
export interface PreparedWebhook
  extends Omit<Webhook, 'url' | 'headers'>,
    Pick<WebhookCall, 'url' | 'headers' | 'timeoutMs'> {
  readonly permits: PermitShares
  /** The counter of successful requests; `undefined` before the first one. */
  delivered: Count | undefined
}

/** The configuration from which a `DestinationPlan` was made. */
interface PlanSource {
  /** The `version` of the routing: a new object for each routing, compared by identity. */
  readonly routingVersion: object
  readonly payload: PayloadSettings
}

/** How the deliveries of a destination are handled under one configuration. */
export type DestinationPlan = PlanSource & (DeliverPlan | Exclude<RetryRoute, { kind: 'deliver' }>)

/** The limits of a policy, for all processes of the installation together. */
export interface PlannedLimits {
  readonly ratePerSecond: number | undefined
  readonly maxConcurrency: number | undefined
  /**
   * A hash of the destination id. With it, `PartitionShare.permitsAt` spreads the permits of
   * different destinations over the partitions.
   */
  readonly rotateBy: number
}

export interface DeliverPlan {
  readonly kind: 'deliver'
  readonly destination: Destination
  readonly isPaused: boolean
  /**
   * Hashes of the webhooks' URLs: when the URLs change, the counted failures are discarded.
   * `undefined` if failures never disable the destination.
   */
  readonly watchedUrlHashes: string | undefined
  /** The retry schedule and retry window of the destination, or those of the installation. */
  readonly policy: RetryPolicy
  readonly preparedWebhooks: readonly PreparedWebhook[]
  readonly requestBuilder: RequestBuilder
  readonly limits: PlannedLimits | undefined
  /** Sends requests with an access token, if the destination needs one. */
  readonly authorized: AuthorizedTransport | undefined
}

/** A destination with its cached plan. */
interface Planned {
  readonly destination: string
  /** The plan of the destination's last delivery. */
  plan: DestinationPlan | undefined
}

export interface PlanDeps {
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly delivery: DeliveryRules
  readonly policy: Pick<RetryPolicy, 'tiers'>
  readonly limiter: Pick<ConcurrencyLimiter, 'permitsOf'>
  readonly authorize: Authorize
}

/**
 * Returns the plan for the current configuration. It is made once and kept in `target`, because a
 * look-up in a map would miss the CPU cache.
 */
export function planOf(target: Planned, deps: PlanDeps): DestinationPlan {
  const [routing, payload] = [deps.routing(), deps.payload()]
  if (target.plan?.routingVersion === routing.version && target.plan.payload === payload) return target.plan
  const routed = routeRetry(target.destination, routing)
  const before = target.plan?.kind === 'deliver' ? target.plan : undefined
  const plan = routed.kind === 'deliver' ? planFor(routed.destination, payload, deps, before) : routed
  target.plan = { ...plan, routingVersion: routing.version, payload }
  return target.plan
}

/**
 * Returns the plan of a destination: `before` if the configuration change concerns only other
 * destinations, otherwise a new plan.
 */
const planFor = (
  destination: Destination,
  payload: PayloadSettings,
  deps: PlanDeps,
  before: (PlanSource & DeliverPlan) | undefined,
): DeliverPlan =>
  before?.destination === destination && before.payload === payload
    ? before
    : createDeliverPlan(destination, payload, deps, before)

function createDeliverPlan(
  destination: Destination,
  payload: PayloadSettings,
  { delivery, policy, limiter, authorize }: PlanDeps,
  before: DeliverPlan | undefined,
): DeliverPlan {
  const { paused: isPaused, webhooks, lifecycle } = destination
  const { schedule, window, timeout: timeoutMs } = effectivePolicy(destination.policy, delivery)
  const preparedWebhooks = webhooks.map((webhook): PreparedWebhook => {
    const url = revealed(webhook.url)
    const headers = fixedHeaders(webhook, payload)
    const permits = limiter.permitsOf(webhook, destination.id)
    return { ...webhook, url, headers, timeoutMs, permits, delivered: undefined }
  })
  const own = { schedule, window, tiers: policy.tiers, pauseKeepsWindow: lifecycle?.pauseKeepsWindow }
  const requestBuilder = new RequestBuilder(destination, payload, before?.requestBuilder)
  const authorized = authorize(destination, before?.authorized)
  const limits = limitsOf(destination)
  const watchedUrlHashes = isWatched(destination) ? urlHashesOf(destination) : undefined
  const shared = { kind: 'deliver', destination, isPaused, watchedUrlHashes } as const
  return { ...shared, policy: own, preparedWebhooks, requestBuilder, limits, authorized }
}

function limitsOf({ id, policy }: Destination): PlannedLimits | undefined {
  const { ratePerSecond, maxConcurrency } = policy ?? {}
  if (ratePerSecond === undefined && maxConcurrency === undefined) return undefined
  return { ratePerSecond, maxConcurrency, rotateBy: murmur2(Buffer.from(id)) >>> 0 }
}

/** Whether a destination waits only for permits that other destinations hold. */
export const isHeldUpByOthers = (
  { plan }: Pick<Planned, 'plan'>,
  limiter: Pick<ConcurrencyLimiter, 'isHeldByOthers'>,
): boolean => plan?.kind === 'deliver' && plan.preparedWebhooks.every(({ permits }) => limiter.isHeldByOthers(permits))
