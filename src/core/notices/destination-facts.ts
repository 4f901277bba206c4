import {
  type DeadLetterReason,
  deadLetterReasons,
  type Outcome,
  outcomes,
} from '../delivery/outcomes-reasons-and-classification.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import { objectIn } from '../message/json.ts'

/** Whether the attempts at a destination fail, according to its circuit breaker in one process. */
export type DestinationHealth = 'failing' | 'recovered'

export type DeadLetterCounts = Readonly<Partial<Record<DeadLetterReason, number>>>

/**
 * What one process has seen of a destination since the process last wrote facts about it. All facts
 * about a destination go to one partition, whose owner makes notices from them.
 */
export interface DestinationFacts {
  readonly destination: string
  /** `failing`: the circuit breaker opened. `recovered`: it closed. `undefined`: no change. */
  readonly health: DestinationHealth | undefined
  /** The outcomes of the attempt that opened or closed the circuit breaker. */
  readonly outcomes: readonly Outcome[]
  /** Labels of the webhooks whose endpoint responded with 410 Gone. */
  readonly gone: readonly string[]
  /** The number of deliveries that were dead-lettered, by reason. */
  readonly deadLetters: DeadLetterCounts
}

/** Encodes destination facts as the properties of an event. */
export const encodeFacts = (facts: DestinationFacts): JsonText => JSON.stringify(facts) as JsonText

/** A destination has at most 5 webhooks. */
const maxWebhooks = 5
/** Maximum length of an id in the configuration, in characters. */
const maxIdLength = 63

/**
 * Decodes facts from the properties of an event. Ignores invalid values, which any program with
 * write access to the events topic can write.
 */
export function decodeFacts(text: string | undefined): DestinationFacts | undefined {
  const given = objectIn(text ?? '')
  const destination = given?.['destination']
  if (given === undefined || !isId(destination)) return undefined
  const health = given['health'] === 'failing' || given['health'] === 'recovered' ? given['health'] : undefined
  return {
    destination,
    health,
    outcomes: outcomes.filter(outcome => listIn(given['outcomes']).includes(outcome)),
    gone: [...new Set(listIn(given['gone']).filter(isId))].slice(0, maxWebhooks),
    deadLetters: countsIn(given['deadLetters']),
  }
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxIdLength

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function countsIn(value: unknown): DeadLetterCounts {
  if (typeof value !== 'object' || value === null) return {}
  const given = value as Readonly<Record<string, unknown>>
  const counted = deadLetterReasons.filter(reason => Object.hasOwn(given, reason) && isCount(given[reason]))
  return Object.fromEntries(counted.map(reason => [reason, given[reason]]))
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0

export function addCounts(counts: Partial<Record<DeadLetterReason, number>>, more: DeadLetterCounts): void {
  for (const [reason, count] of Object.entries(more) as [DeadLetterReason, number][])
    counts[reason] = (counts[reason] ?? 0) + count
}
