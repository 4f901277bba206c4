import type { Judgement } from './finding.ts'

/** The result of a connection to one address, with the configured TLS and authentication. */
export interface ConnectionResult {
  readonly address: string
  /** Why the connection failed; `undefined` when it works. */
  readonly failure: string | undefined
  /** Kafka APIs for which the broker supports no version that Hookline uses. */
  readonly unsupported: readonly string[]
}

export interface ClusterSeen {
  readonly configured: readonly ConnectionResult[]
  /**
   * The results for addresses that the brokers advertise (`advertised.listeners`), but that the
   * configuration does not contain.
   */
  readonly advertised: readonly ConnectionResult[]
  /** The number of brokers; `undefined` when no broker responds. */
  readonly brokers: number | undefined
}

export function judgeCluster({ configured, advertised, brokers }: ClusterSeen): readonly Judgement[] {
  const hasBootstrap = configured.some(({ failure }) => failure === undefined)
  const all = [...configured, ...advertised]
  const problems = [
    ...configured.flatMap(result => judgeConnection(result, hasBootstrap ? otherBrokerRemark : noBrokerRemark)),
    ...advertised.flatMap(result => judgeConnection(result, advertisedRemark)),
    ...all.flatMap(judgeVersions),
  ]
  const isHealthy = !problems.some(({ level }) => level === 'fail')
  if (!isHealthy || brokers === undefined) return problems
  const each = brokers === 1 ? '1 broker,' : `${brokers} brokers, each`
  return [{ level: 'ok', detail: `${each} reachable at its advertised address` }, ...problems]
}

type Remark = Pick<Judgement, 'level' | 'remedy'>
const otherBrokerRemark: Remark = {
  level: 'warn',
  remedy: 'check this broker; the services can start without it, because another broker of kafka.brokers responds',
}
const noBrokerRemark: Remark = {
  level: 'fail',
  remedy: 'check kafka.brokers, kafka.tls and kafka.sasl, and whether the broker is running',
}
const advertisedRemark: Remark = {
  level: 'fail',
  remedy:
    'clients must reach this address, because the broker advertises it: check advertised.listeners of the broker, and firewalls',
}

const judgeConnection = ({ address, failure }: ConnectionResult, remark: Remark): readonly Judgement[] =>
  failure === undefined ? [] : [{ ...remark, which: address, detail: failure }]

function judgeVersions({ address, unsupported }: ConnectionResult): readonly Judgement[] {
  if (unsupported.length === 0) return []
  const detail = `lacks the required versions of these Kafka APIs: ${unsupported.join(', ')}`
  return [{ level: 'fail', which: address, detail, remedy: 'use Kafka 2.1 to 4' }]
}

/**
 * Times in ms: `before` and `after` the request by this machine's clock, `appended` by the broker's
 * clock.
 */
export interface ClockReading {
  readonly before: number
  readonly after: number
  /** The append time; `undefined` when the topic stores the producer's time instead. */
  readonly appended: number | undefined
}

/**
 * A clock difference below `failBeyondMs` is only a warning, because Hookline uses the brokers'
 * time once a broker has responded.
 */
const warnBeyondMs = 1_000
const failBeyondMs = 60_000

export function judgeClock({ before, after, appended }: ClockReading): Judgement {
  if (appended === undefined)
    return {
      level: 'warn',
      detail:
        'cannot compare the clocks of this machine and of the broker, because message.timestamp.type of the dead-letter topic is not LogAppendTime',
      remedy: 'set message.timestamp.type of the dead-letter topic to LogAppendTime',
    }
  // The clocks differ for certain only if the append time is not between `before` and `after`.
  const skewMs = appended < before ? appended - before : Math.max(0, appended - after)
  const size = Math.abs(skewMs)
  const detail =
    size === 0
      ? "this machine's clock agrees with the broker's clock"
      : `this machine's clock is ${secondsOf(size)} ${skewMs > 0 ? 'behind' : 'ahead of'} the broker's clock`
  if (size < warnBeyondMs) return { level: 'ok', detail }
  const remedy = "check NTP on this machine and on the brokers, because Hookline uses the brokers' time"
  return { level: size < failBeyondMs ? 'warn' : 'fail', detail, remedy }
}

const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 3 : 0)} s`
