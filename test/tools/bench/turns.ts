import { type Drain, type DrainPlan, drain } from './drain.ts'
import type { Forwarder, ForwarderProcess, Job, Target } from './forwarders/forwarder.ts'
import { startReceiver } from './receiver/receiver.ts'
import type { Stage } from './stage.ts'

/** Long to what it takes to fill the caches again, which a thousand destinations do in a tenth of a second; short to the seconds in which a machine changes its speed. */
const turnMs = 250
/** Without a turn for less than a second, after which a lane would be taken for slow. */
const mostMissed = 3

/** One of those that deliver side by side. */
export interface Contender {
  readonly forwarder: Forwarder
  /** In an installation of its own: two that share a topic share its partitions. */
  readonly job: Omit<Job, 'stage' | 'targets'>
  /** By the URL of the receiver, of which each has its own too; absent: all to that. */
  readonly targetsOf?: ((receiverUrl: string) => readonly Target[]) | undefined
  readonly plan: DrainPlan
}

/**
 * What each has measured when all deliver at the same time. On the forwarder's core they take turns, one at a time, the others are stopped;
 * they come through their work together. So a machine whose speed changes from second to second changes it for all alike, and what they cost
 * can be compared; deliveries a second on the wall cannot be.
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

/** Who waits for a turn. */
export interface Waiting {
  /** Of its work, what is done: 0 to 1. */
  readonly done: number
  /** Turns that others have had since its last one. */
  readonly missed: number
}

/** Whose turn it is: who has missed as many as anybody may, or else who is furthest behind. @throws RangeError when nobody is there */
export function nextTurn<Each extends Waiting>(waiting: readonly Each[]): Each {
  const [first, ...others] = waiting
  if (first === undefined) throw new RangeError('nobody waits for a turn')
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
        // It has ended by itself, and whoever waits for it is told so.
      }
  }
}

class Turns {
  readonly #members = new Set<Member>()
  readonly #timer = setInterval(() => this.#next(), turnMs)
  #running: Member | undefined

  /** The forwarder, with its processes among those that take turns for as long as they live. */
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
    // Who is stopped does not hear that it is to end.
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
