import { type Examined, some } from './examined.ts'
import type { Call } from './ledger.ts'

/** What an endpoint has noted of a call. */
export interface Mark {
  /** Whose signature is right; `nobody`: no secret that there ever was. */
  readonly secret: string
  /** Of the configuration, as it stands in a header. */
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
  /** So many of each have been in use. */
  readonly secrets: number
  readonly editions: number
}

/** Whether no call was refused, whatever was changed while it was under way, and every change was taken up. */
export function judgeConfiguration(evidence: ConfigurationEvidence): Examined {
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
      `calls that were refused: ${some(refused.map(({ id, mark, answer }) => `${id}, signed by ${mark}: ${JSON.stringify(answer)}`))}`,
    )
  for (const what of ['secrets', 'editions'] as const)
    if (seen[what].size !== evidence[what]) failures.push(`${seen[what].size} ${what} were seen, not ${evidence[what]}`)
  return {
    measured: [
      `${own.length} calls under ${seen.secrets.size} secrets and ${seen.editions.size} editions, ${refused.length} refused`,
    ],
    failures,
  }
}
