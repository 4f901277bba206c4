import { expect, it } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import type { LogSession } from '../../../../src/core/log-session.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { createReadLog } from '../../../../src/services/operator/read-log.ts'
import { JsonEventCodec } from '../../../support/kafka/json-codec.ts'
import { MemorySession } from '../../../support/kafka/memory-session.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

it('does not read for a request whose turn comes after its response: later ones get their turn', async () => {
  const clock = new ManualClock()
  const held: (() => void)[] = []
  let opened = 0
  const log = createReadLog({
    ...{
      topics: topicNames('hookline'),
      clock,
      logger: silent,
      recorded: 'failures',
      tiers: [],
      codec: new JsonEventCodec(),
    },
    routing: () => createRouting({ sources: [], destinations: [] }),
    async sessions<T>(use: (session: LogSession) => Promise<T>): Promise<T> {
      opened++
      await new Promise<void>(resolve => held.push(resolve))
      return use(new MemorySession())
    },
  })
  const query = { filter: {}, limit: 1, before: undefined }
  const early = Array.from({ length: 10 }, () => log.deadLetters(query))
  await clock.advance(1_900)
  expect(await Promise.all(early)).toEqual(early.map(() => expect.objectContaining({ code: 'unavailable' })))
  const late = log.deadLetters(query)
  for (const release of held.splice(0)) release()
  while (held.length === 0) await new Promise(setImmediate)
  for (const release of held) release()

  expect(await late).toMatchObject({ kind: 'answered' })
  expect(opened).toBe(5)
})
