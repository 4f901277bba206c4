import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { goldenPayloads, goldenSecret, goldenSignatures } from '../support/dispatcher/golden-payloads.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

describe.each(['got', 'undici'])('every golden payload, with %s', transport => {
  it('arrives byte for byte, with its signature and the headers of the contract', async () => {
    const receiver = closing(await RecordingReceiver.started({ secrets: [goldenSecret] }))
    const webhooks = [{ url: receiver.url, headers: { Authorization: 'Bearer of-the-customer' } }]
    const installation = closing(
      await startInstallation({
        delivery: { transport },
        destinations: [{ id: 'crm', sources: ['web'], sharedSecret: goldenSecret.reveal(), webhooks }],
      }),
    )
    const service = await installation.run()
    const [event] = trackEvents(1)
    // Without a deletion request, a `delete` would be dead-lettered.
    const golden = goldenPayloads.filter(
      ({ name, message }) => name.startsWith('default/') && message.type !== 'delete',
    )
    await installation.send(
      golden.map(({ name, message }) => ({ ...event!, message: { ...message, messageId: name } })),
    )
    await receiver.untilDelivered(golden.length)

    const received = new Map(receiver.requests.map(request => [request.messageId, request]))
    for (const { name, body } of golden) {
      const request = received.get(name)
      expect({ name, body: request?.body }).toEqual({ name, body })
      expect({ name, signature: request?.headers['x-signature'] }).toEqual({
        name,
        signature: goldenSignatures.get(name),
      })
    }
    // The receiver verifies the signature over the parsed and serialised body, so Hookline must
    // send what `JSON.stringify` writes.
    expect(receiver.requests.every(request => request.signatureValid === true)).toBe(true)
    expect(Object.keys(receiver.requests[0]!.headers).sort()).toEqual([
      ...['accept', 'accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'host'],
      ...['user-agent', 'x-message-id', 'x-signature'],
    ])
    expect(receiver.requests[0]!.headers).toMatchObject({
      'user-agent': 'Hookline/1.0',
      'content-type': 'application/json',
    })
    expect(await service.stop()).toBe(0)
  })
})
