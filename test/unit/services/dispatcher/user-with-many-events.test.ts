import { expect, it } from '@jest/globals'
import { partitionFor } from '../../../../src/core/message/partition-for-key.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination } from '../../../support/dispatcher/harness.ts'

function* usersOf(partition: number): Generator<string> {
  for (let index = 0; ; index++) if (partitionFor(Buffer.from(`user-${index}`), 2) === partition) yield `user-${index}`
}

// The other users of the busy destination wait for less than a second.
it('a user with many events for a busy destination does not delay another destination', async () => {
  const harness = await DispatcherHarness.started({
    partitions: 2,
    destinations: [destination('busy'), destination('other')],
    latencyMs: ({ url }) => (url.includes('busy') ? 20 : 0),
  })
  const [first, second] = [usersOf(0), usersOf(1)]
  const write = (id: string, userId: string, destinationId = 'busy'): void =>
    void harness.write({ message: trackMessage(id, { userId }), destinationId })
  let written = 0
  const writeToPartition1 = (): void => {
    for (let index = 0; index < 3_000; index++) write(`m${written++}`, second.next().value as string)
  }
  writeToPartition1()
  await harness.advance(100)
  const userId = first.next().value as string
  for (let index = 0; index < 3_000; index++) write(`hot-${index}`, userId)
  write('for-other', first.next().value as string, 'other')
  for (let second = 0; second < 5; second++) {
    writeToPartition1()
    await harness.advance(1_000)
  }
  expect(harness.calls.filter(({ call }) => call.url.includes('other'))).toHaveLength(1)
})
