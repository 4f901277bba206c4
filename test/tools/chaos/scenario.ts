import type { LinkState } from '../../support/network/tcp-proxy.ts'
import type { IntakeLimits } from './collector-verdict.ts'
import type { Injected, Limits } from './delivery-verdict.ts'
import type { Load, LoadOptions } from './event-load.ts'
import type { AwaitedDeliveries } from './message-ledger.ts'
import type { Inspection, Script } from './receiver.ts'
import type { CheckResult } from './result-of-a-check.ts'
import type { World } from './world.ts'

/** A set-up, a load, consecutive faults, and limits. It is one row of the results table. */
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
   * Whether the `processes` run only the dispatcher. With `intake`, they always do. Default: false.
   */
  readonly dispatchersOnly?: boolean
  /**
   * The load lasts until all faults are over, and at least `seconds`. `fillerBytes` is the
   * additional size of each message.
   */
  readonly load: { readonly perSecond: number; readonly seconds: number; readonly fillerBytes?: number }
  /**
   * The load goes over HTTP to this number of collectors. Absent: it is written directly to Kafka.
   */
  readonly intake?: { readonly collectors: number; readonly limits: IntakeLimits }
  /** Each destination gets every event. Without a script every request gets a 200. */
  readonly destinations: readonly Endpoint[]
  readonly delivery: { readonly schedule: readonly string[]; readonly perHost?: number; readonly perWebhook?: number }
  readonly faults: readonly Fault[]
  readonly limits: Limits
  /** Writes the load to Kafka. Default: events of many users at an even rate. */
  readonly writeLoad?: (options: LoadOptions) => Load
  /** Returns additional keys of the configuration file, which override the default ones. */
  readonly configuration?: (of: ConfigurationOf) => Readonly<Record<string, unknown>>
  readonly brokerProperties?: Readonly<Record<string, string>>
  /** Size in MB of a separate disk for each broker, which a fault can fill. */
  readonly diskMb?: number
  /** Whether a fault can set the wall clock of the processes. */
  readonly ownClock?: boolean
  /** Range of the wait before a fault, in ms. Default: one to three seconds. */
  readonly calmMs?: { readonly from: number; readonly to: number }
  /** Maximum wait after the load until everything is delivered, in ms. Default: three minutes. */
  readonly settleMs?: number
  /** Additional checks, after the processes have stopped. */
  readonly examine?: (world: World, injected: readonly Injected[]) => Promise<CheckResult>
}

export interface ConfigurationOf {
  readonly destinations: readonly Readonly<Record<string, unknown>>[]
  /** Directory for files that the configuration names. */
  readonly directory: string
}

export interface Endpoint {
  readonly id: string
  readonly script?: Script
  /** Response time in milliseconds. Default: 10. */
  readonly latencyMs?: number
  /** Number of webhooks of the destination. All follow `script`. Default: 1. */
  readonly webhooks?: number
  /** The `Ledger` of the run stores its result with each request. */
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

/** A scenario with continual replays and resends during its faults. */
export interface JobsScenario extends Scenario {
  readonly intake: NonNullable<Scenario['intake']>
  readonly jobs: {
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
 * A scenario in which destinations change through the operator API. They get the events of a
 * separate source.
 */
export interface ChangesScenario extends Scenario {
  readonly changes: {
    readonly operators: number
    readonly destinations: number
    /** Number of changes that begin concurrently before each fault. */
    readonly perFault: number
    /** Range of the wait from the start of the changes to the fault, in ms. */
    readonly faultAfterMs: { readonly from: number; readonly to: number }
    /** Number of events per second for the destinations that change. Each gets every event. */
    readonly eventsPerSecond: number
  }
}

/** A scenario that syncs an audience (a list of users) instead of sending messages. */
export interface AudienceScenario {
  readonly name: string
  readonly shows: string
  /**
   * Number of processes with the `audiences` service. The same number of other processes deliver.
   */
  readonly processes: number
  /** Number of users in the first list, and percentage of them that the second list replaces. */
  readonly lists: { readonly members: number; readonly changedPercent: number }
  /** Maximum number of membership updates per second and process. */
  readonly emitPerSecond: number
  /**
   * `failingPercent` is the percentage of requests that get a 503. `latencyMs` is the response
   * time.
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
     * Maximum time until all destinations have the list, from the end of the upload and of all
     * faults.
     */
    readonly settledMs: number
    /** Maximum time from the first write of a membership update to its first delivery. */
    readonly latestMs: number
    /** Maximum time for which a process is not ready after it was ready. Default: 15 s. */
    readonly unreadyMs?: number
  }
}

/**
 * A fault of an audience scenario.
 * - `kill`: SIGKILL of any process.
 * - `link`: impairs the link of the audiences process behind the proxy, for longer than the session
 *   timeout.
 * - `restart`: SIGTERM to every audiences process.
 */
export type AudienceFault =
  | { readonly kind: 'kill' | 'restart' }
  | { readonly kind: 'link'; readonly state: LinkState; readonly seconds: number }

export interface Fault {
  readonly name: string
  /** The seed chooses the victim. */
  inject(world: World): Promise<Hit>
}

/** An injected fault, and what must be observed before it counts as recovered. */
export interface Hit {
  /** Victim or details of the fault, for example `p3`, `broker 2` or `for 20 s`. */
  readonly what: string
  readonly at: number
  /**
   * The recovery ends when each of `keys` has occurred among the deliveries since `from`. `keyOf`
   * returns a delivery's key.
   */
  readonly recovery: AwaitedDeliveries & { readonly keys: ReadonlySet<string> }
  /** Names of the processes that were killed or frozen. */
  readonly victims?: readonly string[]
  /** When they were killed or frozen, if this is not `at`. */
  readonly victimsAt?: number | undefined
  /** Reverts the fault. Resolves with the problems that occurred. */
  heal?(): Promise<readonly string[]>
  readonly problems?: readonly string[]
}
