import { type CheckResult, some } from './check-result.ts'
import type { Call } from './message-ledger.ts'

/** Facts about a request that an endpoint recorded. */
export interface Mark {
  /** Number of the secret with which the signature is valid. `nobody` if no secret fits. */
  readonly secret: string
  /**
   * Number of the edition of the configuration with which the request was made. Each edition has
   * its number in a header of the requests.
   */
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
  /** How many secrets, and how many editions of the configuration, the endpoint must have seen. */
  readonly secrets: number
  readonly editions: number
}

const named = { secrets: 'secrets', editions: 'versions of the configuration file' } as const

/**
 * Judges whether the endpoint rejected no request during the changes, and whether every change took
 * effect.
 */
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
    if (seen[what].size !== evidence[what])
      failures.push(`requests used ${seen[what].size} ${named[what]}, not ${evidence[what]}`)
  return {
    measured: [
      `${own.length} requests, which used ${seen.secrets.size} secrets and ${seen.editions.size} versions of the configuration file. The endpoint rejected ${refused.length}`,
    ],
    failures,
  }
}
