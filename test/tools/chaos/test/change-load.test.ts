import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { createChangeLoad } from '../change-load.ts'
import { markOf, webhooksWith } from '../changed-destinations.ts'
import { createChance } from '../seeded-random.ts'
import { operatorStub } from './operator-stub.ts'

const urlOf = (destination: string): string => `http://127.0.0.1:1/${destination}`

/** What an operator process does with a PATCH. Only `ok` and `lost` make the change. */
type Answer = 'ok' | 'lost' | 'unavailable' | 'conflict' | 'bad'

async function changing(answers: readonly Answer[]) {
  const stored = { version: 1, document: webhooksWith(urlOf('crm'), markOf(0, 0)) }
  const versions: unknown[] = []
  let patches = 0
  const operator = await operatorStub('o1', async (request, response) => {
    const body = await text(request)
    if (request.method === 'GET') return void response.end(JSON.stringify(stored))
    versions.push(request.headers['if-match'])
    const answer = answers[patches++] ?? 'ok'
    const isMade = answer === 'ok' || answer === 'lost'
    // Another client changes the destination first.
    if (answer === 'conflict') Object.assign(stored, { document: webhooksWith(urlOf('crm'), markOf(1, 99)) })
    if (isMade) Object.assign(stored, { document: JSON.parse(body) })
    if (isMade || answer === 'conflict') stored.version++
    if (answer === 'lost') return void request.socket.destroy()
    const status = { ok: 200, unavailable: 503, conflict: 412, bad: 422 }[answer]
    response.writeHead(status).end(JSON.stringify(stored))
  })
  const load = createChangeLoad({
    operators: { members: () => [operator] },
    receiver: { url: urlOf },
    destinations: ['crm'],
    chance: createChance(1, 'changes'),
    patienceMs: 10_000,
  })
  load.begin(1)
  return { ...(await load.ended()), versions, stored }
}

const tried = (mark: string, outcome: string, version?: number) => ({
  ...{ destination: 'crm', mark, outcome },
  ...(version !== undefined && { version }),
})

it('changes the version that it has read', async () => {
  const { versions, stored, ...seen } = await changing([])
  expect(seen).toEqual({ tries: [tried('1-1', 'acknowledged', 2)], found: 0, problems: [] })
  expect(versions).toEqual(['"1"'])
  expect(stored.document).toEqual(webhooksWith(urlOf('crm'), '1-1'))
})

it('reads again after a 412, and repeats the change', async () => {
  const { versions, tries } = await changing(['conflict'])
  expect(tries).toEqual([tried('1-1', 'refused'), tried('2-2', 'acknowledged', 3)])
  expect(versions).toEqual(['"1"', '"2"'])
})

it('finds a change without a response in the document', async () => {
  const { tries, found } = await changing(['lost'])
  expect([tries, found]).toEqual([[tried('1-1', 'unknown')], 1])
})

it('repeats a change after a 503 if the document does not have it', async () => {
  const { tries, found } = await changing(['unavailable'])
  expect([tries, found]).toEqual([[tried('1-1', 'unknown'), tried('1-2', 'acknowledged', 2)], 0])
})

it('reports an unexpected response', async () => {
  const { tries, problems } = await changing(['bad'])
  expect(tries).toEqual([])
  expect(problems).toEqual([expect.stringMatching(/^the change 1-1 of crm: 422 \{/)])
})
