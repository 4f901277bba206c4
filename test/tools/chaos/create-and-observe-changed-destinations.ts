import { changedSource, markOf, webhooksWith } from './changed-destinations.ts'
import type { ObjectSeen } from './changes-verdict.ts'
import type { Ledger } from './message-ledger.ts'
import { answerOf, createOperatorClient, type Operators } from './operator-client.ts'
import { reached } from './poll-until-reached.ts'
import type { Receiver } from './receiver.ts'
import { giveUpMs } from './scenario-run.ts'

/* Destinations that change through the operator API. `patience` multiplies each time limit. */

const lookEveryMs = 500
/** Time limit for all operator processes to show the same destinations, in ms. */
const equalMs = 30_000
/** Time limit for a change to take effect in every process, in ms. */
const inForceMs = 2_000

export async function createDestinations(
  operators: Operators,
  { ids, receiver }: { readonly ids: readonly string[]; readonly receiver: Pick<Receiver, 'url'> },
  patience: number,
): Promise<void> {
  const ask = createOperatorClient(operators, giveUpMs * patience)
  for (const id of ids) {
    const body = { sources: [changedSource], ...webhooksWith(receiver.url(id), markOf(0, 0)) }
    await ask({ method: 'PUT', path: `/v1/destinations/${id}`, body })
  }
}

/**
 * Polls the operator processes until all show the same destinations, or until the time limit.
 * Resolves with their last answers.
 */
export async function shownBy(
  operators: Operators,
  patience: number,
): Promise<ReadonlyMap<string, readonly ObjectSeen[]>> {
  const lists = new Map<string, readonly ObjectSeen[]>()
  const areEqual = async (): Promise<boolean> => {
    lists.clear()
    for (const { name, service } of operators.members()) {
      const answer = await answerOf(service.operator ?? '', { path: '/v1/destinations?limit=500' })
      if (answer?.status !== 200) return false
      const { destinations } = JSON.parse(answer.text)
      lists.set(
        name,
        destinations.filter(({ origin }: { readonly origin: string }) => origin === 'api'),
      )
    }
    return new Set([...lists.values()].map(list => JSON.stringify(list))).size === 1
  }
  await reached(areEqual, { everyMs: lookEveryMs, patienceMs: equalMs * patience })
  return lists
}

/**
 * Waits until each destination has got, from each partition, an event that was sent after the time
 * T, which is `inForceMs` after the call. Resolves with T, at the latest after `giveUpMs`.
 */
export async function lastDelivered(
  {
    ids,
    ledger,
    partitions,
  }: { readonly ids: readonly string[]; readonly ledger: Ledger; readonly partitions: number },
  patience: number,
): Promise<number> {
  const from = performance.now() + inForceMs * patience
  const all = ids.flatMap(id => Array.from({ length: partitions }, (_, partition) => `${id} ${partition}`))
  await ledger.seen(new Set(all), {
    ...{ from, patienceMs: giveUpMs * patience },
    keyOf: ({ destination, sent }) => (sent.at >= from ? `${destination} ${sent.partition}` : undefined),
  })
  return from
}
