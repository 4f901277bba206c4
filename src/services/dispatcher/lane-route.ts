import type { Places, Room } from '../../core/delivery/places.ts'
import { CallMaker, standingHeaders } from '../../core/delivery/request.ts'
import { type ParkedRoute, type Routing, routeParked } from '../../core/delivery/route.ts'
import type { Count } from '../../core/metrics.ts'
import type { WebhookCall } from '../../core/ports.ts'
import type { Destination, PayloadSettings, Webhook } from '../../core/settings.ts'
import { revealed } from '../../core/units.ts'
import type { DestinationLane } from './delivery.ts'

/** A webhook as a lane calls it: its headers are all that stay the same from call to call. */
export interface Callee extends Omit<Webhook, 'url' | 'headers'>, Pick<WebhookCall, 'url' | 'headers'> {
  readonly room: Room
  /** Calls that delivered; from the first one on. */
  delivered: Count | undefined
}

/** What a route was made of. */
interface Made {
  readonly routing: Routing
  readonly payload: PayloadSettings
}

/** Where a lane's deliveries go by one state of the configuration, with all that its calls need. */
export type LaneRoute = Made & (Open | Exclude<ParkedRoute, { kind: 'deliver' }>)

export interface Open {
  readonly kind: 'deliver'
  readonly isPaused: boolean
  readonly callees: readonly Callee[]
  readonly callMaker: CallMaker
}

interface Deps {
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly places: Pick<Places, 'roomOf'>
}

/**
 * Made once for each state of the configuration, and not looked up for each delivery: of a thousand destinations each is far from the
 * processor when its turn comes, and every table that is asked for it, and every object on the way, costs as much as a hundred steps.
 */
export function routeOf(lane: DestinationLane, deps: Deps): LaneRoute {
  const [routing, payload] = [deps.routing(), deps.payload()]
  if (lane.route?.routing === routing && lane.route.payload === payload) return lane.route
  const parked = routeParked(lane.destination, routing)
  const route = parked.kind === 'deliver' ? open(parked.destination, payload, deps.places) : parked
  lane.route = { routing, payload, ...route }
  return lane.route
}

function open(destination: Destination, payload: PayloadSettings, places: Deps['places']): Open {
  const { paused: isPaused, webhooks } = destination
  const callees = webhooks.map((webhook): Callee => {
    const url = revealed(webhook.url)
    const headers = standingHeaders(webhook, payload)
    return { ...webhook, url, headers, room: places.roomOf(webhook, destination.id), delivered: undefined }
  })
  return { kind: 'deliver', isPaused, callees, callMaker: new CallMaker(destination, payload) }
}

/** Whether a lane waits for permits that calls of other destinations hold: that says nothing of its own endpoints. */
export const isHeldUpByOthers = ({ route }: DestinationLane, places: Pick<Places, 'isTakenByOthers'>): boolean =>
  route?.kind === 'deliver' && route.callees.every(({ room }) => places.isTakenByOthers(room))
