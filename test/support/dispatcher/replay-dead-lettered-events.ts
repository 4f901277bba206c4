import { parseDeadLetter } from '../../../src/core/delivery/parse-dead-letter.ts'
import { replayTargetOf } from '../../../src/core/delivery/replay-decision.ts'
import { createRouting } from '../../../src/core/delivery/route.ts'
import { defaultPolicy } from '../builders.ts'
import type { DispatcherHarness } from './harness.ts'

/** Replays all dead letters. @throws when the replay of a dead letter would not write an event */
export function replayEvents({ log, topics, clock, ...settings }: DispatcherHarness): void {
  const context = { topics, routing: createRouting(settings), policy: defaultPolicy }
  for (const record of log.records(topics.deadLetter)) {
    const target = replayTargetOf(record, parseDeadLetter(record), context, clock.now())
    if (target.kind !== 'event') throw new Error(`the replay of this dead letter writes no event: ${target.kind}`)
    const { key, value, headers } = target.copy
    log.write(target.topic, value, key && String(key), headers)
  }
}
