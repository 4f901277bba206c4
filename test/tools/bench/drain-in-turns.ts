import { type Drain, type DrainPlan, drain } from './drain-topic.ts'
import type { Forwarder, ForwarderProcess, Job, Target } from './forwarders/forwarder.ts'
import { startReceiver } from './receiver/receiver.ts'
import type { Stage } from './test-bed.ts'

/**
 * Time for which one forwarder runs while the others are stopped, in ms. It is long compared with
 * the time to fill the CPU caches (100 ms with a thousand destinations). It is short compared with
 * changes in the machine's speed.
 */
const turnMs = 250
/**
 * Number of turns that a forwarder can miss in a row. A forwarder that has missed this number of
 * turns runs next. Three turns take 0.75 s. A longer stop must be avoided: after a second,
 * Hookline counts its destination queues as slow.
 */
const mostMissed = 3

/**
 * One of the compared forwarders, which are programs that read events from a topic and send them as
 * requests.
 */
export interface Contender {
  readonly forwarder: Forwarder
  /**
   * How the forwarder is started. Each contender needs its own installation: two contenders on one
   * topic would share its partitions.
   */
  readonly job: Omit<Job, 'stage' | 'targets'>
  /**
   * Returns the destinations for the URL of this contender's own receiver. Absent: all events go to
   * that receiver.
   */
  readonly targetsOf?: ((receiverUrl: string) => readonly Target[]) | undefined
  readonly plan: DrainPlan
}

/**
 * Measures several forwarders in turns. One forwarder at a time runs on the forwarder's core, while
 * the others are stopped. The turns are chosen so that all progress equally. Changes in the
 * machine's speed then affect all of them equally, so the deliveries per CPU second can be
 * compared. The deliveries per second of wall time mean nothing, because this time includes the
 * time for which a forwarder was stopped.
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
  /** Part of the forwarder's events that it has delivered, from 0 to 1. */
  readonly done: number
  /** Number of turns that other forwarders have had since the last turn of this one. */
  readonly missed: number
}

/**
 * Chooses the forwarder that runs next: one that missed `mostMissed` turns or more, otherwise the
 * one with the least progress. @throws RangeError when no forwarder waits
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
        // The process has exited by itself. `ForwarderProcess.died` reports this to `drain`.
      }
  }
}

class Turns {
  readonly #members = new Set<Member>()
  readonly #timer = setInterval(() => this.#next(), turnMs)
  #running: Member | undefined

  /** Wraps a forwarder. Its processes then take part in the turns until they end. */
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
    // A process that is stopped by SIGSTOP does not handle SIGTERM, so continue it first.
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
