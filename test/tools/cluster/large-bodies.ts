import { setTimeout as delay } from 'node:timers/promises'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import { userIdOf } from '../chaos/event-load.ts'
import type { Sent } from '../chaos/message-ledger.ts'
import { basic, post, type Target } from './message-load.ts'

/** Each message has almost 32 KiB, the maximum. The body has almost 4 MiB. */
const messages = 128
const messageBytes = 32_700
const pauseMs = 8_000

/** Sends bodies of almost 4 MiB each, one after the other. Resolves with their number. */
export async function sendLargeBodies(target: Target & Required<Pick<Target, 'agent'>>, count: number) {
  const { ledger, partitions, agent } = target
  const url = `${await target.collectorUrl()}/v1/batch`
  const headers = { authorization: basic(await target.writeKey()) }
  for (let number = 0; number < count; number += 1) {
    const at = performance.now()
    const batch = Array.from({ length: messages }, (_, index) => largeMessage(`large-${number}-${index}`, index))
    const sent = batch.map(({ messageId: id, userId }): Sent => {
      return { id, partition: partitionFor(Buffer.from(userId), partitions), at, acknowledgedAt: undefined }
    })
    for (const each of sent) ledger.sent.set(each.id, each)
    const ids = sent.map(({ id }) => id)
    const response = await post(url, { agent, headers, body: JSON.stringify({ batch }), ids })
    const endedAt = performance.now()
    if (response.answer === 200) for (const each of sent) each.acknowledgedAt = endedAt
    ledger.posted.push({ collector: undefined, messages, at, endedAt, ...response })
    await delay(pauseMs)
  }
  return count
}

function largeMessage(messageId: string, index: number) {
  const message = {
    messageId,
    type: 'track',
    userId: userIdOf(index),
    event: 'Order Completed',
    properties: { text: '' },
  }
  const missing = messageBytes - JSON.stringify(message).length
  return { ...message, properties: { text: 'a'.repeat(missing) } }
}
