import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { answerOf, createOperatorClient } from '../operator-client.ts'
import { operatorStub } from './operator-stub.ts'

/** Starts a stub that responds with these statuses in turn. Status 0 closes the connection. */
async function member(name: string, statuses: readonly number[]) {
  const requests: { readonly request: IncomingMessage; readonly body: string }[] = []
  const stub = await operatorStub(name, async (request, response) => {
    requests.push({ request, body: await text(request) })
    const status = statuses[requests.length - 1] ?? 200
    if (status === 0) request.socket.destroy()
    else response.writeHead(status).end(JSON.stringify({ by: name }))
  })
  return { requests, member: stub }
}

it('repeats a request with the same key at the next process, until one responds', async () => {
  const [first, second] = [await member('o1', [0, 503]), await member('o2', [503, 202])]
  const ask = createOperatorClient({ members: () => [first.member, second.member] }, 10_000)
  const body = { destination: 'crm' }
  expect(await ask({ method: 'POST', path: '/v1/resends', body, idempotencyKey: 'k' })).toEqual({ by: 'o2' })
  const all = [...first.requests, ...second.requests]
  expect(all.map(({ request }) => `${request.method} ${request.url} ${request.headers['idempotency-key']}`)).toEqual(
    Array(4).fill('POST /v1/resends k'),
  )
  expect(all.map(each => JSON.parse(each.body))).toEqual(Array(4).fill(body))
})

it('sends a request once, with the version that the object must have', async () => {
  const { requests, member: only } = await member('o1', [503, 0, 412])
  const request = { method: 'PATCH', path: '/v1/destinations/crm', body: { paused: true }, ifMatch: 7 } as const
  const answers = [1, 2, 3].map(() => answerOf(only.service.operator ?? '', request))
  const statuses = await Promise.all(answers)
  expect(statuses.map(answer => answer?.status).toSorted()).toEqual([412, 503, undefined])
  expect(requests.map(each => each.request.headers['if-match'])).toEqual(Array(3).fill('"7"'))
})

it('rejects when the request is refused', async () => {
  const { member: only } = await member('o1', [404])
  const ask = createOperatorClient({ members: () => [only] }, 10_000)
  await expect(ask({ path: '/v1/replays/1' })).rejects.toThrow('GET /v1/replays/1: 404 {"by":"o1"}')
})

it('rejects when no process responds in time', async () => {
  const ask = createOperatorClient({ members: () => [] }, 0)
  await expect(ask({ path: '/v1/ledger' })).rejects.toThrow('GET /v1/ledger: no response')
})
