import type { LinkState } from '../../support/network/tcp-proxy.ts'
import type { CheckResult } from './check-result.ts'
import type { IntakeLimits } from './collector-verdict.ts'
import type { Injected, Limits } from './delivery-verdict.ts'
import type { Load, LoadOptions } from './event-load.ts'
import type { AwaitedDeliveries } from './message-ledger.ts'
import type { Inspection, Script } from './receiver.ts'
import type { World } from './world.ts'

/**
 * A scenario, which is one row of the results table: a set-up, a load, the faults that are injected
 * one after another, and the limits.
 */
export interface Scenario {
  readonly name: string
  /** What the scenario does, for the reader of the table. */
  readonly shows: string
  /** Number of brokers. With three, every topic has three replicas and a write needs two. */
  readonly brokers: 1 | 3
  /**
   * Whether the processes of Hookline reach the brokers through proxies. The load and the checks
   * connect directly.
   */
  readonly behindProxy?: boolean
  readonly processes: number
  /**
   * Whether the `processes` run only the dispatcher. With `intake`, they always do. Default: they
   * run all services.
   */
  readonly dispatchersOnly?: boolean
  /**
   * The load lasts until all faults are over, and at least `seconds`. Each message has
   * `fillerBytes` additional bytes.
   */
  readonly load: { readonly perSecond: number; readonly seconds: number; readonly fillerBytes?: number }
  /**
   * Number of collectors that receive the load over HTTP, and their limits. The `processes` then
   * only deliver. Absent: the load is written to Kafka.
   */
  readonly intake?: { readonly collectors: number; readonly limits: IntakeLimits }
  /** Destinations. Each one gets every event. Without a script every request gets a 200. */
  readonly destinations: readonly Endpoint[]
  /** The `delivery` settings of the configuration. */
  readonly delivery: { readonly schedule: readonly string[]; readonly perHost?: number; readonly perWebhook?: number }
  readonly faults: readonly Fault[]
  readonly limits: Limits
  /** Writes the load to Kafka. Default: events of many users at an even rate. */
  readonly writeLoad?: (options: LoadOptions) => Load
  /**
   * Returns additional keys of the configuration, which override the default ones. The
   * configuration file is written once, before the processes start.
   */
  readonly configuration?: (of: ConfigurationOf) => Readonly<Record<string, unknown>>
  /** Additional server properties of each broker. */
  readonly brokerProperties?: Readonly<Record<string, string>>
  /**
   * Size in MB of a separate disk for each broker, which a fault can fill. Absent: no separate
   * disks.
   */
  readonly diskMb?: number
  /** Whether a fault can set the wall clock of the processes. */
  readonly ownClock?: boolean
  /** Range of the wait before a fault, in ms. Default: one to three seconds. */
  readonly calmMs?: { readonly from: number; readonly to: number }
  /** Maximum wait after the load until everything is delivered, in ms. Default: three minutes. */
  readonly settleMs?: number
  /** Additional checks after the load, the faults and the stop of the processes. */
  readonly examine?: (world: World, injected: readonly Injected[]) => Promise<CheckResult>
}

export interface ConfigurationOf {
  /** Destinations of the default configuration. */
  readonly destinations: readonly Readonly<Record<string, unknown>>[]
  /** Directory for files that the configuration names. */
  readonly directory: string
}

export interface Endpoint {
  readonly id: string
  readonly script?: Script
  /** Response time in milliseconds. Default: 10. */
  readonly latencyMs?: number
  /** Number of webhooks of the destination. All of them follow `script`. Default: 1. */
  readonly webhooks?: number
  /** Inspects each request. The result is stored with the request in the `Ledger` of the run. */
  readonly inspection?: Inspection
}

/** A scenario without faults: a load for a given time, with a spike at its start. */
export interface SoakScenario extends Omit<Scenario, 'faults' | 'load'> {
  readonly soak: {
    /** Load as a part of the capacity of the processes. The capacity is measured first. */
    readonly share: number
    /** At the start of the soak, the load is multiplied by `times` for `seconds`. */
    readonly spike: { readonly times: number; readonly seconds: number }
  }
}

/** A scenario in which replays and resends run again and again during its faults. */
export interface JobsScenario extends Scenario {
  readonly intake: NonNullable<Scenario['intake']>
  readonly jobs: {
    /** Number of processes with the operator service. */
    readonly operators: number
    /** Destination whose dead letters are replayed. It accepts every request after the load. */
    readonly replayed: string
    /** Destination to which all events are resent once, one time span after another. */
    readonly resent: string
    /** Maximum number of records per second of each job. */
    readonly rate: number
  }
}

/**
 * A scenario in which destinations change through the operator API during its faults. These
 * destinations get the events of a separate source (`changed-destinations.ts`).
 */
export interface ChangesScenario extends Scenario {
  readonly changes: {
    /** Number of processes with the operator service. */
    readonly operators: number
    /** Number of destinations that change. */
    readonly destinations: number
    /** Number of changes that begin concurrently before each fault. */
    readonly perFault: number
    /** Range of the wait from the start of the changes to the fault, in ms. */
    readonly faultAfterMs: { readonly from: number; readonly to: number }
    /**
     * Number of events per second for the destinations that change. Each destination gets every
     * event.
     */
    readonly eventsPerSecond: number
  }
}

/**
 * A scenario that syncs an audience (a list of users) instead of sending messages. It has one
 * broker, and faults during the syncs.
 */
export interface AudienceScenario {
  readonly name: string
  readonly shows: string
  /**
   * Number of processes with the `audiences` service. The same number of other processes deliver.
   */
  readonly processes: number
  /**
   * Number of users in the first list, and the percentage of them that the second list replaces
   * with other users.
   */
  readonly lists: { readonly members: number; readonly changedPercent: number }
  /** Maximum number of membership updates per second and process. */
  readonly emitPerSecond: number
  /**
   * Destinations of the audience. `failingPercent` is the percentage of the requests to which the
   * endpoint responds with 503. `latencyMs` is the response time of the endpoint.
   */
  readonly destinations: readonly {
    readonly id: string
    readonly failingPercent: number
    readonly latencyMs?: number
  }[]
  readonly delivery: { readonly schedule: readonly string[] }
  /** Faults while the destinations get the first and the second list. */
  readonly faults: readonly [readonly AudienceFault[], readonly AudienceFault[]]
  readonly limits: {
    /**
     * Maximum time until all destinations have the list. It begins at the end of the last fault or
     * of the upload, whichever is later.
     */
    readonly settledMs: number
    /**
     * Maximum time from the write of a membership update to its first delivery. If a repeated write
     * has created copies of its record, the first record counts.
     */
    readonly latestMs: number
    /** Maximum time for which a process is not ready after it was ready. Default: 15 s. */
    readonly unreadyMs?: number
  }
}

/**
 * A fault of an audience scenario.
 * - `kill`: SIGKILL of any process; another one starts.
 * - `link`: impairs the link between Kafka and the audiences process behind the proxy. The fault
 *   lasts longer than the session timeout, so the process loses its session.
 * - `restart`: SIGTERM to every audiences process; the new processes restore the memberships from
 *   the topic.
 */
export type AudienceFault =
  | { readonly kind: 'kill' | 'restart' }
  | { readonly kind: 'link'; readonly state: LinkState; readonly seconds: number }

export interface Fault {
  readonly name: string
  /** Injects the fault. The seed chooses the victim. */
  inject(world: World): Promise<Hit>
}

/**
 * An injected fault: when it began, which process or broker it affected, and what must be observed
 * before it counts as recovered.
 */
export interface Hit {
  /** Name of the victim or details of the fault, for example `p3`, `broker 2` or `for 20 s`. */
  readonly what: string
  /** When the fault began. */
  readonly at: number
  /**
   * The recovery ends when each of `keys` has occurred among the deliveries since `from`. `keyOf`
   * returns the key of a delivery, for example its partition.
   */
  readonly recovery: AwaitedDeliveries & { readonly keys: ReadonlySet<string> }
  /** Names of processes that were killed or frozen, so that they could not commit their work. */
  readonly victims?: readonly string[]
  /** Reverts the fault. Resolves with the problems that occurred. */
  heal?(): Promise<readonly string[]>
  /** Problems during the fault. */
  readonly problems?: readonly string[]
}
