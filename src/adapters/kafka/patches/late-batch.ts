import { internal } from '../internals.ts'

interface OffsetManager {
  readonly memberAssignment: Readonly<Record<string, readonly number[]>>
  resolveOffset(position: { topic: string; partition: number; offset: string }): void
}

/**
 * A batch that a rejoin has overtaken moves the position of a partition that is not ours any more. When nothing of its topic is, that is a
 * `TypeError` in kafkajs, and the consumer never starts again.
 */
export function cureLateBatch(): void {
  const { prototype } = internal<{ prototype: OffsetManager }>('consumer/offsetManager')
  const resolve = prototype.resolveOffset
  prototype.resolveOffset = function (this: OffsetManager, position): void {
    if (this.memberAssignment[position.topic]?.includes(position.partition)) resolve.call(this, position)
  }
}
