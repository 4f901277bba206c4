import { type Drain, type DrainPlan, drain } from './drain-topic.ts'
import type { Forwarder, ForwarderProcess, Job, Target } from './forwarders/forwarder.ts'
import { startReceiver } from './receiver/receiver.ts'
import type { Stage } from './test-bed.ts'

/**
 * Length of a turn in ms: long compared with the time to fill the CPU caches (100 ms), but short
 * compared with changes in the machine's speed.
 */
const turnMs = 250
/**
 * A forwarder that has missed this number of turns (0.75 s) runs next. After a pause of one second,
 * Hookline would count its destination queues as slow.
 */
const mostMissed = 3

/**
 * One of the compared forwarders: programs that read events from a topic and send them as requests.
 */
export interface Contender {
  readonly forwarder: Forwarder
  /**
   * What the contender processes. Two contenders must not have the same `installation`: they would
   * share the partitions of its topics.
   */
  readonly job: Omit<Job, 'stage' | 'targets'>
  /**
   * The destinations for the URL of this contender's receiver. Absent: all events go to the
   * receiver.
   */
  readonly targetsOf?: ((receiverUrl: string) => readonly Target[]) | undefined
  readonly plan: DrainPlan
}

/**
 * Measures forwarders in turns, so that changes of the machine's speed affect them equally. Only
 * deliveries per CPU second can be compared.
 */
export async function drainInTurns<Name extends string>(
  stage: Stage,
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Readonly<Record<Name, Drain>>> {
  const turns = new Turns()
  try {
    const drains = await Promise.all(
      Object.entries<Contender>(contenders).map(async ([name, { forwarder, job, targetsOf, plan }]) => {
        await job.installation.prepareRun()
        const receiver = await startReceiver()
        try {
          const taking = turns.taken(forwarder, () => receiver.delivered() / plan.count)
          const targets = targetsOf && { targets: targetsOf(receiver.url) }
          return [name, await drain(taking, { ...job, ...targets, stage: { ...stage, receiver } }, plan)] as const
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

export interface Waiting {
  /** Share of its events that the forwarder has delivered. */
  readonly done: number
  /** Turns of other forwarders since the last turn of this one. */
  readonly missed: number
}

/**
 * The next forwarder: one with `mostMissed` missed turns, otherwise the one with the least
 * progress. @throws RangeError when none waits
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
        // `ForwarderProcess.died` reports that the process has exited by itself.
      }
  }
}

class Turns {
  readonly #members = new Set<Member>()
  readonly #timer = setInterval(() => this.#next(), turnMs)
  #running: Member | undefined

  /** Returns a forwarder whose processes take part in the turns. */
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
    // A process stopped by SIGSTOP does not handle SIGTERM.
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
