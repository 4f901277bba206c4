import type { Call } from './message-ledger.ts'
import { type CheckResult, some } from './result-of-a-check.ts'

/** Facts about a request that an endpoint recorded. */
export interface Mark {
  /** Number of the secret that signed the request. `nobody` if no secret fits. */
  readonly secret: string
  /** Number of the version of the configuration file, from a header of the request. */
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
  /** Number of different secrets and file versions that the requests must have used. */
  readonly secrets: number
  readonly editions: number
}

const named = { secrets: 'secrets', editions: 'versions of the configuration file' } as const

/** Fails if the endpoint rejected a request during the changes, or if a change took no effect. */
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
