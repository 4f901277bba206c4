import { setTimeout as delay } from 'node:timers/promises'
import type { Posted } from '../chaos/message-ledger.ts'
import type { Received } from '../chaos/receiver.ts'
import { destinations, type Installation } from './installation.ts'
import { restartsBetween } from './list-pods-and-find-process.ts'
import { startMessageLoad, type Target } from './message-load.ts'
import { type Figures, judge, type Limits } from './verdict.ts'

/** What a scenario reports about its fault. */
export interface Done {
  readonly victims?: readonly string[]
  /** When the fault began, in ms of `performance.now()`. Default: the call of `inject`. */
  readonly at?: number
  readonly measured?: readonly string[]
  readonly failures?: readonly string[]
}

export interface Scenario {
  readonly name: string
  readonly shows: string
  readonly limits: Limits
  prepare?(installation: Installation): Promise<void>
  /** How the messages reach the collector. Default: through its Service. */
  entry?(installation: Installation): Promise<Partial<Target>>
  inject(installation: Installation): Promise<Done>
  /** Removes what `prepare` has installed outside Hookline. It runs also after an error. */
  cleanUp?(): Promise<void>
}

export interface Row extends Omit<Figures, 'failures'> {
  readonly name: string
  readonly shows: string
  readonly measured: readonly string[]
  readonly failures: readonly string[]
}

function refusalsIn(posted: readonly Posted[]): readonly string[] {
  const refused = Map.groupBy(
    posted.filter(({ answer }) => answer !== 200),
    ({ answer }) => (answer === 'broken' ? 'without a response' : `with status ${answer}`),
  )
  return [...refused].map(([how, { length }]) => `${length} requests ${how}`)
}

function sentAgainIn(posted: readonly Posted[]): readonly string[] {
  const { length } = posted.filter(({ sentAgain }) => sentAgain !== undefined)
  return length > 0 ? [`${length} requests sent again after a closed connection`] : []
}

/** When the collector received the message of a request to an endpoint. */
const receivedAt = ({ body }: Received): string => String(JSON.parse(body).receivedAt)

const perSecond = 60
const steadyMs = 5_000
const settleMs = 120_000

/**
 * Injects the fault under load, and then waits until all accepted messages are delivered, at most
 * two minutes.
 */
export async function runScenario(scenario: Scenario, on: Installation): Promise<Row> {
  try {
    return await runUnderLoad(scenario, on)
  } finally {
    await scenario.cleanUp?.()
  }
}

async function runUnderLoad(scenario: Scenario, on: Installation): Promise<Row> {
  const { name, shows, limits } = scenario
  const { ledger } = on
  await scenario.prepare?.(on)
  for (const destination of destinations) on.receiver.inspect(destination, receivedAt)
  const [begun, before] = [performance.now(), await on.pods()]
  const load = await startMessageLoad({ ...on, ...(await scenario.entry?.(on)) }, perSecond)
  let done: Done = {}
  let at = begun
  try {
    await delay(steadyMs)
    at = performance.now()
    done = await scenario.inject(on)
    await delay(steadyMs)
  } finally {
    await load.stop()
  }
  await ledger.settled(destinations, settleMs)
  // Wait for duplicates that arrive late.
  await delay(steadyMs)
  const posted = ledger.posted.filter(({ at }) => at >= begun)
  const figures = judge({
    ...{ limits, destinations, at: done.at ?? at, victims: done.victims ?? [] },
    sent: [...ledger.sent.values()].filter(sent => sent.at >= begun),
    posted,
    deliveries: ledger.deliveries.filter(
      ({ sent, destination }) => sent.at >= begun && destinations.some(each => each === destination),
    ),
    restarts: restartsBetween(before, await on.pods()),
  })
  const failures = [...figures.failures, ...(done.failures ?? [])]
  const measured = [...(done.measured ?? []), ...refusalsIn(posted), ...sentAgainIn(posted)]
  return { name, shows, ...figures, measured, failures }
}
