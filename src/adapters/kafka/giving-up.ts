import { pause } from '../../core/pause.ts'
import type { Clock, LogConsumerHandlers, TopicPartition } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'
import type { ConsumerGroup } from './internals.ts'
import { byTopic, type Partitions, partitionOf } from './partitions.ts'

/** A call is over after 5 s, then its copy is written. What is not done by then the next owner does again. */
const drainLimit = durationMs(8_000)
const commitLimit = durationMs(2_000)
const commitAgainAfter = durationMs(100)

interface Deps {
  readonly owned: Partitions
  readonly handlers: Pick<LogConsumerHandlers, 'onRevoking' | 'onRevoked'>
  readonly flush: (group: ConsumerGroup, limit: DurationMs) => Promise<boolean>
  readonly clock: Clock
}

/**
 * Gives up what the group's leader wants others to have, and only that: it is fetched no more, drained, committed, dropped. Then the group is
 * to be joined again, without it. The next join, whoever calls for it, ends this: its assignment says anew what is to be given up.
 */
export class GivingUp {
  readonly #deps: Deps
  #round = 0
  #isRejoinDue = false
  #endWait = (): void => undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Something has been given up: the group has to be joined for its next owner to get it. */
  get isRejoinDue(): boolean {
    return this.#isRejoinDue
  }

  callOff(): void {
    this.#round++
    this.#endWait()
    this.#isRejoinDue = false
  }

  /** Called after every join; what was to be given up before it and is not any more goes on. */
  async begin(group: ConsumerGroup, surplus: readonly TopicPartition[]): Promise<void> {
    const { owned, handlers, clock } = this.#deps
    const round = ++this.#round
    const isCalledOff = (): boolean => this.#round !== round
    const leaving = surplus.map(each => owned.get(each)).filter(each => each !== undefined)
    for (const partition of leaving) partition.isLeaving = true
    if (leaving.length > 0) group.pause(byTopic(leaving, ({ partition }) => partition))
    const idle = handlers.onRevoking(leaving.map(partitionOf))
    if (leaving.length === 0) return
    const deadline = clock.monotonic() + drainLimit
    await this.#untilIdle(idle)
    while (!isCalledOff() && !(await this.#deps.flush(group, commitLimit)) && clock.monotonic() < deadline)
      await pause(clock, commitAgainAfter)
    if (isCalledOff()) return
    for (const partition of leaving) owned.delete(partition)
    handlers.onRevoked(leaving.map(partitionOf))
    this.#isRejoinDue = true
  }

  #untilIdle(idle: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#deps.clock.after(drainLimit, resolve)
    this.#endWait = () => {
      cancel()
      resolve()
    }
    void idle.then(this.#endWait)
    return promise
  }
}
