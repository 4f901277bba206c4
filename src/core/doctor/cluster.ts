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

/** The clock of the leader that took a record, beside ours before it was sent and after it was acknowledged; in milliseconds. */
export interface ClockReading {
  readonly before: number
  readonly after: number
  /** Undefined: the topic keeps the time of the producer instead. */
  readonly appended: number | undefined
}

/** Services and commands use the brokers' time; until a broker has given it they use the machine's. */
const warnBeyondMs = 1_000
const failBeyondMs = 60_000

export function judgeClock({ before, after, appended }: ClockReading): Judgement {
  if (appended === undefined)
    return { level: 'warn', detail: 'the broker does not tell its time', remedy: 'see: hookline topics check' }
  // It was appended at any time in between: what is within is no difference.
  const skewMs = appended < before ? appended - before : Math.max(0, appended - after)
  const size = Math.abs(skewMs)
  const detail =
    size === 0 ? "the same as the broker's" : `${secondsOf(size)} ${skewMs > 0 ? 'behind' : 'ahead of'} the broker's`
  if (size < warnBeyondMs) return { level: 'ok', detail }
  const remedy = "processes go by the brokers' time: check NTP on this machine and on the brokers"
  return { level: size < failBeyondMs ? 'warn' : 'fail', detail, remedy }
}

const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 3 : 0)} s`
