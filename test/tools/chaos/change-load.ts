import { setTimeout as delay } from 'node:timers/promises'
import { markIn, markOf, numberIn, webhooksWith } from './changed-destinations.ts'
import { type Answer, answerOf, createOperatorClient, type Operators } from './operator-client.ts'
import type { Receiver } from './receiver.ts'
import type { Chance } from './seeded-random.ts'

/** One PATCH of a destination, and what the client knows about its result. */
export interface Try {
  readonly destination: string
  readonly mark: string
  /**
   * `acknowledged`: 200. `refused`: 412. `unknown`: 503 or no response, so the change may be in
   * force.
   */
  readonly outcome: 'acknowledged' | 'refused' | 'unknown'
  /** Only if the outcome is `acknowledged`. */
  readonly version?: number
}

export interface ChangesSeen {
  /** In the order in which the tries ended. */
  readonly tries: readonly Try[]
  /** Number of changes that a try with the outcome `unknown` has made. */
  readonly found: number
  /** Changes that failed: an unexpected response, or not made in time. */
  readonly problems: readonly string[]
}

export interface ChangeLoad {
  begin(count: number): void
  /** Resolves when all begun changes are made or have failed. */
  ended(): Promise<ChangesSeen>
}

export interface ChangeLoadOptions {
  readonly operators: Operators
  readonly receiver: Pick<Receiver, 'url'>
  readonly destinations: readonly string[]
  readonly chance: Chance
  readonly patienceMs: number
}

/** Wait before the next try when the result of a try is not known. */
const againAfterMs = 100

/**
 * Creates clients that change destinations. Each client reads a destination, and sends a PATCH with
 * its version and a unique mark.
 * - After a 412, it reads again and repeats the change.
 * - After a 503 or no response, it reads again. If the document has one of its marks, the change
 *   was made. Otherwise, it repeats the change.
 */
export function createChangeLoad(options: ChangeLoadOptions): ChangeLoad {
  const { operators, receiver, destinations, chance, patienceMs } = options
  const read = createOperatorClient(operators, patienceMs)
  const tries: Try[] = []
  const problems: string[] = []
  const running: Promise<void>[] = []
  let found = 0
  let count = 0

  async function attempt(destination: string, version: number, mark: string): Promise<Answer | undefined> {
    const running = operators.members()
    const url = running[count % running.length]?.service.operator
    const body = webhooksWith(receiver.url(destination), mark)
    const request = { method: 'PATCH', path: pathOf(destination), body, ifMatch: version } as const
    return url === undefined ? undefined : answerOf(url, request)
  }

  async function change(destination: string): Promise<void> {
    const own = new Set<string>()
    const deadline = performance.now() + patienceMs
    while (performance.now() < deadline) {
      const { version, document } = await read({ path: pathOf(destination) })
      const current = markIn(document)
      if (own.has(current)) return void found++
      const mark = markOf(numberIn(current) + 1, ++count)
      const answer = await attempt(destination, version, mark)
      const outcome = outcomeOf(answer)
      if (outcome === undefined)
        throw new Error(`the change ${mark} of ${destination}: ${answer?.status} ${answer?.text}`)
      const isAcknowledged = outcome === 'acknowledged'
      tries.push({ destination, mark, outcome, ...(isAcknowledged && { version: versionIn(answer) }) })
      if (isAcknowledged) return
      if (outcome === 'refused') continue
      own.add(mark)
      await delay(againAfterMs)
    }
    throw new Error(`a change of ${destination} was not made within ${patienceMs} ms`)
  }

  return {
    begin(number) {
      for (const destination of Array.from({ length: number }, () => chance.pick(destinations)))
        running.push(change(destination).catch((error: Error) => void problems.push(error.message)))
    },
    async ended() {
      await Promise.all(running)
      return { tries, found, problems }
    },
  }
}

const pathOf = (destination: string): string => `/v1/destinations/${destination}`

const versionIn = (answer: Answer | undefined): number => JSON.parse(answer?.text ?? '{}').version

/** Undefined if no client expects this response. */
function outcomeOf(answer: Answer | undefined): Try['outcome'] | undefined {
  if (answer === undefined || answer.status === 503) return 'unknown'
  if (answer.status === 200) return 'acknowledged'
  return answer.status === 412 ? 'refused' : undefined
}
