import { type Drain, type DrainPlan, drain } from './drain-topic.ts'
import type { Forwarder, ForwarderProcess, Job, Target } from './forwarders/forwarder.ts'
import { startReceiver } from './receiver/receiver.ts'
import type { Stage } from './test-bed.ts'

/**
 * Length of a turn. It is long compared with the time to fill the caches (a tenth of a second with
 * a thousand destinations), and short compared with changes in the machine's speed.
 */
const turnMs = 250
/**
 * A forwarder that missed this many turns in a row goes first. Three turns are 0.75 s; after a
 * second, its destination queues would count as slow.
 */
const mostMissed = 3

/** One of the forwarders that are compared. */
export interface Contender {
  readonly forwarder: Forwarder
  /**
   * Each contender needs its own installation, because two that share a topic would share its
   * partitions.
   */
  readonly job: Omit<Job, 'stage' | 'targets'>
  /**
   * Destinations by the URL of the forwarder's own receiver. Absent: all events go to this
   * receiver.
   */
  readonly targetsOf?: ((receiverUrl: string) => readonly Target[]) | undefined
  readonly plan: DrainPlan
}

/**
 * Measures forwarders that run concurrently. They alternate on the forwarder's core, one at a time
 * while the others are stopped, and progress equally. Changes in the machine's speed then affect
 * all alike, so costs per CPU second can be compared. Deliveries per second of wall time cannot.
 */
export async function drainInTurns<Name extends string>(
  stage: Stage,
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Readonly<Record<Name, Drain>>> {
  const turns = new Turns()
  try {
    const drains = await Promise.all(
      Object.entries<Contender>(contenders).map(async ([name, { forwarder, job, targetsOf, plan }]) => {
        const receiver = await startReceiver()
        try {
          const taking = turns.taken(forwarder, () => receiver.delivered() / plan.count)
          const targets = targetsOf && { targets: targetsOf(receiver.url) }
          const run = await drain(taking, { ...job, ...targets, stage: { ...stage, receiver } }, plan)
          await job.installation.forgetPositions()
          return [name, run] as const
        } finally {
          await receiver.stop()
        }
      }),
    )
    return Object.fromEntries(drains) as Record<Name, Drain>
  } finally {
    turns.end()
  }
}

/** A forwarder that waits for its turn. */
export interface Waiting {
  /** Share of its work that is done, from 0 to 1. */
  readonly done: number
  /** Number of turns that other forwarders have had since the last turn of this one. */
  readonly missed: number
}

/**
 * Chooses the next turn: a forwarder that missed `mostMissed` turns or more, otherwise the one with
 * the least progress. @throws RangeError when there is none
 */
export function nextTurn<Each extends Waiting>(waiting: readonly Each[]): Each {
  const [first, ...others] = waiting
  if (first === undefined) throw new RangeError('no forwarder waits for a turn')
  return others.reduce((best, each) => (goesBefore(each, best) ? each : best), first)
}

function goesBefore(one: Waiting, other: Waiting): boolean {
  if (one.missed >= mostMissed || other.missed >= mostMissed) return one.missed > other.missed
  return one.done === other.done ? one.missed > other.missed : one.done < other.done
}

class Member implements Waiting {
  missed = 0
  readonly #process: ForwarderProcess
  readonly #progress: () => number

  constructor(process: ForwarderProcess, progress: () => number) {
    this.#process = process
    this.#progress = progress
  }

  get done(): number {
    return this.#progress()
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.#process.pids)
      try {
        process.kill(pid, signal)
      } catch {
        // The process has exited by itself. The code that awaits it gets the error.
      }
  }
}

class Turns {
  readonly #members = new Set<Member>()
  readonly #timer = setInterval(() => this.#next(), turnMs)
  #running: Member | undefined

  /** Wraps a forwarder, so that its processes take part in the turns until they end. */
  taken(forwarder: Forwarder, progress: () => number): Forwarder {
    return {
      name: forwarder.name,
      start: async job => {
        const process = await forwarder.start(job)
        const member = new Member(process, progress)
        this.#members.add(member)
        member.signal('SIGSTOP')
        const leaving = (end: () => Promise<void>) => () => {
          this.#leave(member)
          return end()
        }
        return { ...process, stop: leaving(process.stop), kill: leaving(process.kill) }
      },
    }
  }

  end(): void {
    clearInterval(this.#timer)
  }

  #leave(member: Member): void {
    this.#members.delete(member)
    if (this.#running === member) this.#running = undefined
    // A stopped process would not receive SIGTERM, so continue it.
    member.signal('SIGCONT')
  }

  #next(): void {
    if (this.#members.size === 0) return
    const next = nextTurn([...this.#members])
    for (const each of this.#members) each.missed = each === next ? 0 : each.missed + 1
    if (next === this.#running) return
    this.#running?.signal('SIGSTOP')
    next.signal('SIGCONT')
    this.#running = next
  }
}
