import type { Judgement } from './finding.ts'

/** What came of connecting to one address, with TLS and authentication as configured. */
export interface Reached {
  readonly address: string
  /** Undefined: it can be used. */
  readonly failure: string | undefined
  /** Requests that we make and it does not know in any version of ours. */
  readonly unsupported: readonly string[]
}

export interface ClusterSeen {
  readonly configured: readonly Reached[]
  /** The other addresses, at which the brokers tell clients to find them. */
  readonly advertised: readonly Reached[]
  /** How many brokers there are; undefined while nobody can be asked. */
  readonly brokers: number | undefined
}

export function judgeCluster({ configured, advertised, brokers }: ClusterSeen): readonly Judgement[] {
  const begins = configured.some(({ failure }) => failure === undefined)
  const all = [...configured, ...advertised]
  const troubles = [
    ...configured.flatMap(reached => troubleOf(reached, begins ? elsewhere : nowhere)),
    ...advertised.flatMap(reached => troubleOf(reached, unusable)),
    ...all.flatMap(tooDifferent),
  ]
  const isWell = !troubles.some(({ level }) => level === 'fail')
  if (!isWell || brokers === undefined) return troubles
  const each =
    brokers === 1 ? '1 broker, reachable at the address' : `${brokers} brokers, each reachable at the address`
  return [{ level: 'ok', detail: `${each} that it tells clients to use` }, ...troubles]
}

type Remark = Pick<Judgement, 'level' | 'remedy'>
const elsewhere: Remark = { level: 'warn', remedy: 'the services begin with another broker' }
const nowhere: Remark = { level: 'fail', remedy: 'check kafka.brokers, kafka.tls and kafka.sasl, and whether it is up' }
const unusable: Remark = {
  level: 'fail',
  remedy: 'the cluster tells clients to use this address: check advertised.listeners, and what filters traffic there',
}

const troubleOf = ({ address, failure }: Reached, remark: Remark): readonly Judgement[] =>
  failure === undefined ? [] : [{ ...remark, which: address, detail: failure }]

function tooDifferent({ address, unsupported }: Reached): readonly Judgement[] {
  if (unsupported.length === 0) return []
  const detail = `has no version in common with this client of: ${unsupported.join(', ')}`
  return [{ level: 'fail', which: address, detail, remedy: 'Kafka 2.1 to 4 will do' }]
}
