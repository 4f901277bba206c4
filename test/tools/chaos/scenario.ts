import type { LinkState } from '../../support/network/tcp-proxy.ts'
import type { Examined } from './examined.ts'
import type { IntakeLimits } from './intake.ts'
import type { Awaited } from './ledger.ts'
import type { Load, LoadOptions } from './load.ts'
import type { Inspection, Script } from './receiver.ts'
import type { Injected, Limits } from './verdict.ts'
import type { World } from './world.ts'

/** One row of the table, messages under way: a set-up, the faults that it gets one after another, and what must hold. */
export interface Scenario {
  readonly name: string
  /** For whoever reads the table. */
  readonly shows: string
  /** With three, every topic is replicated to all of them and a write needs two. */
  readonly brokers: 1 | 3
  /** The service reaches the brokers through proxies; whoever writes and watches does not. */
  readonly behindProxy?: boolean
  readonly processes: number
  /** Lasts until all faults are over, and at least so many seconds; messages, which may be made larger by some bytes each. */
  readonly load: { readonly perSecond: number; readonly seconds: number; readonly fillerBytes?: number }
  /** The load comes in over HTTP, to so many processes of their own: `processes` only deliver then. Absent: it is written to Kafka. */
  readonly intake?: { readonly collectors: number; readonly limits: IntakeLimits }
  /** Each gets every event. Without a script every call is answered with 200. */
  readonly destinations: readonly Endpoint[]
  /** As in the configuration. */
  readonly delivery: { readonly schedule: readonly string[]; readonly perHost?: number; readonly perWebhook?: number }
  readonly faults: readonly Fault[]
  readonly limits: Limits
  /** Writes the load to Kafka in place of even events of many users. */
  readonly writeLoad?: (options: LoadOptions) => Load
  /** Keys of the configuration besides; beat what follows from the rest. Written once before the processes start. */
  readonly configuration?: (of: ConfigurationOf) => Readonly<Record<string, unknown>>
  /** More server properties of each broker. */
  readonly brokerProperties?: Readonly<Record<string, string>>
  /** Each broker has a disk of its own, of so many megabytes, that can be filled. */
  readonly diskMb?: number
  /** The processes have a wall clock that a fault can set. */
  readonly ownClock?: boolean
  /** How long it is calm before a fault, at least and at most; one to three seconds. */
  readonly calmMs?: { readonly from: number; readonly to: number }
  /** How long is waited after the load until everything is delivered; three minutes. */
  readonly settleMs?: number
  /** After the end: what was seen besides, judged, and what of it belongs next to the row. */
  readonly examine?: (world: World, injected: readonly Injected[]) => Promise<Examined>
}

export interface ConfigurationOf {
  /** As they stand without it. */
  readonly destinations: readonly Readonly<Record<string, unknown>>[]
  /** For files that it names. */
  readonly directory: string
}

export interface Endpoint {
  readonly id: string
  readonly script?: Script
  /** What it answers after; 10. */
  readonly latencyMs?: number
  /** What it notes of each request. */
  readonly inspection?: Inspection
}

/** A row of another kind: no fault but load, for as long as is asked for. */
export interface SoakScenario extends Omit<Scenario, 'faults' | 'load'> {
  readonly soak: {
    /** Of what the processes can do, which is measured first. */
    readonly share: number
    readonly spike: { readonly times: number; readonly seconds: number }
  }
}

/** A row of another kind: syncs of an audience instead of messages, one broker, and faults all along. */
export interface AudienceScenario {
  readonly name: string
  readonly shows: string
  /** That run the audiences service, and as many others that deliver. */
  readonly processes: number
  /** Everybody in the first list; of them so many per cent are not in the second one, and as many others are. */
  readonly lists: { readonly members: number; readonly changedPercent: number }
  /** In one process. */
  readonly emitPerSecond: number
  /** Each gets the audience, answers so many per cent of the calls with 503, and each so late. */
  readonly destinations: readonly {
    readonly id: string
    readonly failingPercent: number
    readonly latencyMs?: number
  }[]
  readonly delivery: { readonly schedule: readonly string[] }
  /** What is done while the first list is told, and while the second one is. */
  readonly faults: readonly [readonly AudienceFault[], readonly AudienceFault[]]
  readonly limits: {
    /** From the last fault, or from the end of the list when that is later, until everybody has what they should. */
    readonly settledMs: number
  }
}

/**
 * `kill`: SIGKILL of any process, another one is started. `link`: the link between Kafka and the one
 * audiences process behind a proxy is spoilt for so many seconds, past its session. `restart`: SIGTERM to every
 * audiences process and as many new ones, which restore what is on the topic.
 */
export type AudienceFault =
  | { readonly kind: 'kill' | 'restart' }
  | { readonly kind: 'link'; readonly state: LinkState; readonly seconds: number }

export interface Fault {
  readonly name: string
  /** Does the harm. The choice of the victim is the seed's. */
  inject(world: World): Promise<Hit>
}

/** What a fault hit. */
export interface Hit {
  /** `p3`, `broker 2` */
  readonly what: string
  /** When it began. */
  readonly at: number
  /** Recovered when each key has been delivered; a delivery since `from` counts as `keyOf` says. */
  readonly recovery: Awaited & { readonly keys: ReadonlySet<string> }
  /** Processes that had no chance to commit what they had done. */
  readonly victims?: readonly string[]
  /** Brings back what was taken; resolves with what did not go as it should. */
  heal?(): Promise<readonly string[]>
  /** What went wrong in the moment of the fault. */
  readonly problems?: readonly string[]
}
