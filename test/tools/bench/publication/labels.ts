import type { RowName } from '../options.ts'

/**
 * What each row measures, for the page. The text is above the results of the row. A row is one
 * experiment of the bench, such as `delivery`.
 */
export const rowTexts: Readonly<Record<RowName, string>> = {
  delivery:
    'The forwarder delivers a full topic, in three cases: the endpoint responds after 0 ms with at most 256 requests in progress, after 20 ms with 512, and after 200 ms with 4,096. The reference loop delivers the same topic with the same HTTP client.',
  peers:
    'Hookline, [Benthos](#against-other-products) with two different settings, and the reference loop deliver the same full topic, one after the other.',
  memory:
    'The forwarder delivers 300,000 events (HTTP client got) or 1,000,000 events (undici). The endpoint responds after 20 ms. Resident memory should not grow during the run, so the table compares its median in the last quarter of the run with its median in the second quarter.',
  live: 'The bench writes 1,000 events a second, evenly spread, for 30 s. The endpoint responds after 20 ms. The latencies include these 20 ms. [Benthos](#against-other-products) and the reference loop get the same load.',
  isolation:
    'The bench writes 1,000 events a second for 10 or 50 destinations. *Dead* endpoints accept requests but never respond. A *limited* destination gets 100 events a second, but has `ratePerSecond: 20`, so its backlog grows. All figures are about the *other* events: those for destinations that are not limited, and whose endpoint is not dead. They are compared with a run without dead endpoints and limits.',
  start:
    'A process starts in an existing consumer group, while 1,000 events wait. The figure is the time from the start of the process to its first delivery, as the median of five starts.',
  crash:
    'A process gets SIGKILL while it delivers 1,000 events a second, and a new process starts immediately. *Seconds of traffic* are the number of duplicates divided by 1,000 events a second. Each figure is the worst of all repetitions.',
  retries:
    'The endpoint responds to two of three events first with a 503, and then with a success. The figures are the CPU time of one retry, without the two attempts: to write the record to a retry topic and to read it again. A second process of Hookline does the same, but also records both attempts in the [attempts topic](../reference/glossary.md#kafka-and-processes). The table has the CPU time of these two records.',
  outage:
    'Two endpoints get 1,000 events a second together. One of them stops responding while 100,000 events arrive for it, and then recovers. Hookline may have 64 requests to it in progress ([permits](../reference/glossary.md#flow-control)), and each takes 20 ms. So at most 3,200 requests a second are possible.',
  idle: 'A process has delivered events and now has nothing to do. The figure is its average CPU use.',
  client:
    "A process calls `track()` with messages of 800 bytes, at full speed and 2,000 times a second, with Hookline's client library and with @segment/analytics-node. In a third case, it makes 100,000 calls while no collector can be reached.",
  collector:
    'The bench sends requests with one message or with twenty messages over 32 connections. The requests go to the collector, and for comparison to two minimal servers that use fastify. The *bare handler* parses the body and writes each message to Kafka unchanged. The other server only parses the body.',
  audiences:
    'A process of the service audiences starts with a million members of [audiences](../reference/glossary.md#audiences-and-deletions), and reads (*restores*) them from Kafka. The CPU time does not include the start of the process.',
  destinations:
    'The forwarder delivers a full topic to 1, 10, 100 or 1,000 destinations. Each event is for one of them.',
  'destinations-10000':
    'Two *dispatchers* (processes that deliver events) start with 10,000 destinations on the [config topic](../reference/glossary.md#kafka-and-processes). The time until ready is that of the slower one. They deliver 1,000 events a second. First no destination changes. Then the operator API changes the URL of one destination ten times a second. A change is *in force* when all partitions deliver to the new URL; the time begins with the response of the operator API.',
  'destinations-100000':
    'Two *dispatchers* (processes that deliver events) start with 100,000 destinations. The time until ready is that of the slower one. Then they deliver 1,000 events a second.',
  operator:
    'One operator process has 10,000 destinations, 1,000 sources and a million dead letters. The bench sends each kind of request of the [console](../how-to/use-the-console.md) 40 times, and loads each page of the console 40 times in Chromium. A response is *partial* if it says so in its field `partial`, for example because the process could not read all records in [about 0.6 s](../reference/operator-api.md#dead-letters). All others are *complete*. The time to load a page ends when all its responses are shown.',
  resend:
    'The bench writes 1,000 *live* events a second for one destination. While they are delivered, a [resend](../how-to/resend.md) delivers 100,000 earlier events again to another destination.',
  limits:
    'A destination has `ratePerSecond: 50`, and 70 events a second arrive for it. The number of processes changes from 1 to 2, 5, 2 and 1. While the first process runs alone, the endpoint of another destination responds with 429 to all requests above 20 a second, and later above 40 a second.',
  backlog:
    'A process delivers a backlog of 10,000, 100,000 or 1,000,000 records. Before, it delivers 60,000 records that are not measured.',
  partitions:
    'One process delivers a full topic with 12, 60 or 240 partitions. Each retry topic has the same number of partitions.',
  processes:
    'One process, then two processes deliver a full topic. The two processes share one core. The bench calculates from their CPU time what they would deliver with a core each. This calculation ignores the network to a second machine.',
}

/**
 * Labels of the figures on the page and in the terminal, by the names of the figures in
 * results.json. The names must stay unchanged, because they identify published figures.
 */
const labels: Readonly<Record<string, string>> = {
  'delivered twice': 'duplicated',
  'requests of no event': 'requests for unknown events',
  'runs with whole requests': 'repetitions in which the verified request was complete',
  'memory, last to second quarter': 'memory of the last quarter, relative to the second quarter',
  'stored twice': 'messages stored twice',
  'healthy events in time': 'share of the other events delivered within 1 s',
  'p99 of healthy events': 'p99 of the other events',
  'p99 of live events': 'p99 of the live events',
  'p99 of that without a dead one': 'p99 of the other events, relative to no dead endpoint',
  'p99 of that without a limit': 'p99 of the other events, relative to no limit',
  'p99 of that without changes': 'p99 latency with changes, relative to no changes',
  'p99 of that without a resend': 'p99 of the live events, relative to no resend',
  'p99 with changes': 'p99 latency with changes',
  'change in force after, p50': 'time until a change is in force, p50',
  'change in force after, p99': 'time until a change is in force, p99',
  'resent in': 'duration of the resend',
  'ready after': 'time from process start until ready',
  'memory of a destination': 'memory per destination',
  'memory of a member': 'memory per member',
  'members missing': 'missing members',
  restored: 'members restored',
  'first delivery after': 'time to the first delivery',
  'next delivery after': 'time to the next delivery',
  'park and release': 'CPU of a retry',
  'park and release, of a bare delivery': 'CPU of a retry, relative to a delivery of the reference loop',
  'attempt records': 'CPU of two records in the attempts topic',
  'attempt records, of a bare delivery':
    'CPU of two records in the attempts topic, relative to a delivery of the reference loop',
  'parked record': 'size of the record in the retry topic',
  attempt: 'CPU per attempt',
  'CPU a delivery': 'CPU per delivery',
  'CPU a message': 'CPU per message',
  'drained in': 'time to deliver the backlog',
  'fullest second, of what its places let through': 'requests in the busiest second, relative to the 3,200 possible',
  'drained at, of what its places let through': 'average requests per second, relative to the 3,200 possible',
  'p99 of the other endpoint, of that before': 'p99 of the other endpoint, relative to before the outage',
  'answered 200 and not stored': 'messages that got a 200 but are not on the topic',
  'requests not answered 200': 'requests without a 200',
  'of one process, worked out for a core each': 'deliveries with a core each, relative to one process',
  'of the CPU taken by the busier one': 'part of the CPU time that the busier process used',
  'of bare fastify, written': 'messages per CPU second, relative to the bare handler',
  'of bare fastify, parsed only': 'messages per CPU second, relative to the server that only parses',
  'times cheaper than @segment/analytics-node':
    "CPU per message of @segment/analytics-node, relative to that of Hookline's library",
  'complete answers after 2 s': 'complete responses that took more than 2 s',
  'p95 of the slowest page': 'p95 of the time to load the slowest page',
  partial: 'share of partial responses (1: all)',
  'p95 of those not partial': 'p95 of complete responses',
  'deviation from the limit': 'deviation from the limit, as a part of the limit',
  'raised limit used after': 'time until the raised limit is used',
  accepted: 'accepted requests',
  CPU: 'average CPU use',
}

/**
 * Returns the label of a figure. A name without its own label is rewritten: `of benthos` becomes
 * `deliveries per CPU second, relative to benthos`.
 */
export const labelOf = (what: string): string => labels[what] ?? referenceLabelOf(relative(what))

const relative = (what: string): string =>
  what
    .replace(/^of that with backlog/, 'of that with a backlog')
    .replace(/^of that with /, 'CPU per delivery, relative to ')
    .replace(/^of (benthos|bare )/, 'deliveries per CPU second, relative to $1')
    .replace(/^p99 of (?!the )/, 'p99, relative to ')

/** Names the reference loop in a label. Its stored name is `bare`. */
const referenceLabelOf = (name: string): string =>
  name.replace(
    /(relative to )?\bbare (got|undici)/,
    (_, before = '', client) => `${before === '' ? '' : `${before}the `}reference loop with ${client}`,
  )

/** Column titles of the tables in the terminal, by the keys of the figures in the code. */
const columnTitles: Readonly<Record<string, string>> = {
  'answer after ms': 'response after ms',
  'in flight': 'requests in progress',
  'first after s': 'first delivery after s',
  'restored a CPU second': 'members restored per CPU second',
  'bytes a member': 'bytes per member',
  'µs CPU a message': 'µs CPU per message',
  'µs inside the call': 'µs inside track()',
  'messages in a request': 'messages per request',
  'calls without an endpoint': 'calls without a reachable collector',
  's of traffic twice': 'duplicates in s of traffic',
  'in time': 'share of other events within 1 s',
  'CPU of a core': 'average CPU use in cores',
  'growth, last to second quarter': 'memory of the last quarter, relative to the second quarter',
  'MB a million events': 'MB per million events',
  'most sent in a second': 'attempts in the busiest second',
  'most arrived in a second': 'arrivals in the busiest second',
  'drained in s': 's to deliver the backlog',
  'in the fullest second': 'requests in the busiest second',
  'p99 ms of the other': 'p99 ms of the other endpoint',
  'p99 ms before': 'p99 ms before the outage',
  'p99 ms beside a resend': 'p99 ms during a resend',
  'resent in s': 's to resend',
  'not delivered': 'resent events not delivered',
  'delivered twice': 'resent events delivered twice',
  parked: 'failed first attempts',
  'bare delivery µs': 'µs CPU per delivery of the reference loop',
  'attempt µs': 'µs CPU per attempt',
  'park and release µs': 'µs CPU of a retry',
  'of a bare delivery': 'CPU of a retry, relative to a delivery of the reference loop',
  'attempt records µs': 'µs CPU of two records in the attempts topic',
  'attempt records, of a bare delivery': 'these records, relative to a delivery of the reference loop',
  'bytes a parked record': 'bytes per record in the retry topic',
  'bytes an event': 'bytes per event',
}

/** Returns the title of a column for the terminal. */
export const columnTitleOf = (key: string): string => columnTitles[key] ?? key

/** Labels of the figures with which others are compared, by their names in results.json. */
const references: Readonly<Record<string, string>> = {
  'bare fastify, written': 'bare handler',
  'bare undici, a delivery': 'a delivery of the reference loop with undici',
  'none dead': 'no dead endpoint',
  before: 'before the outage',
}

/** Returns the label of a figure with which another one is compared. */
export const comparedLabelOf = (name: string): string => references[name] ?? referenceLabelOf(name)

const units: Readonly<Record<string, string>> = {
  '/ CPU s': 'per CPU second',
  'members / CPU s': 'members per CPU second',
  '/ s': 'per second',
  's of traffic': 'seconds of traffic',
}

/** Returns the unit as the page shows it. */
export const unitLabelOf = (unit: string | undefined): string | undefined => units[unit ?? ''] ?? unit

const thousands = (number: string): string => Number(number).toLocaleString('en-US')

/**
 * Returns the label of a variant, which is the subject and the conditions of a measurement, such as
 * `hookline got, 20 ms`. The variant `1 of 3 parked` has a wrong name: two of three events fail and
 * are retried. The labels of the row `operator` have the number of dead letters of a destination:
 * 50,000 for a busy one, and 100 for another one.
 */
export const variantLabelOf = (variant: string): string =>
  referenceLabelOf(variant)
    .replace(/\b\d{4,}\b/, thousands)
    .replace(/ 1,000\/s/, ' 1,000 events a second')
    .replace(/, (\d+ ms)$/, ', responses after $1')
    .replace(/killed at/, 'SIGKILL at')
    .replace(/1 of 3 parked$/, '2 of 3 events retried')
    .replace(/(of \d+) dead$/, '$1 endpoints dead')
    .replace(/(of \d+) limited$/, '$1 destinations limited')
    .replace(/(\S+) waited$/, '$1 events waited')
    .replace(/, 2,000 a second$/, ', 2,000 calls a second')
    .replace(/nobody listens$/, 'no collector reachable')
    .replace(/, (\d+) in a request$/, ', messages per request: $1')
    .replace(/, 429 above (\d+) a second$/, ', endpoint with 429 above $1 a second')
    .replace(/(rebalance .*)$/, '$1 processes')
    .replace(/(\d) remaining$/, '$1 remaining after a rebalance')
    .replace(/^process$/, 'operator process')
    .replace(/(?<=ead letters of )a busy destination/, 'a destination with 50,000')
    .replace(/(?<=ead letters of )another destination/, 'a destination with 100')
