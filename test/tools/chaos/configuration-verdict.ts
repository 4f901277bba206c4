import { type CheckResult, some } from './check-result.ts'
import type { Call } from './ledger.ts'

/** What an endpoint recorded of a request. */
export interface Mark {
  /** The secret whose signature is valid; `nobody` when there is none. */
  readonly secret: string
  /** Edition of the configuration, from a header. */
  readonly edition: string
}

export const markOf = ({ secret, edition }: Mark): string => `${secret} ${edition}`

export function parseMark(mark: string | undefined): Mark {
  const [secret = 'nobody', edition = 'none'] = mark?.split(' ') ?? []
  return { secret, edition }
}

export interface ConfigurationEvidence {
  readonly destination: string
  readonly calls: readonly Call[]
  /** How many secrets, and how many editions, were in use. */
  readonly secrets: number
  readonly editions: number
}

/** Judges whether no request was rejected during the changes, and every change took effect. */
export function judgeConfiguration(evidence: ConfigurationEvidence): CheckResult {
  const own = evidence.calls.filter(({ destination }) => destination === evidence.destination)
  const refused = own.filter(({ answer }) => answer !== 200)
  const seen = { secrets: new Set<string>(), editions: new Set<string>() }
  for (const { mark } of own) {
    const { secret, edition } = parseMark(mark)
    seen.secrets.add(secret)
    seen.editions.add(edition)
  }
  const failures: string[] = []
  if (refused.length > 0)
    failures.push(
      `rejected requests: ${some(refused.map(({ id, mark, answer }) => `${id}, signed by ${mark}: ${JSON.stringify(answer)}`))}`,
    )
  for (const what of ['secrets', 'editions'] as const)
    if (seen[what].size !== evidence[what]) failures.push(`${seen[what].size} ${what} were used, not ${evidence[what]}`)
  return {
    measured: [
      `${own.length} requests with ${seen.secrets.size} secrets and ${seen.editions.size} editions, ${refused.length} rejected`,
    ],
    failures,
  }
}
