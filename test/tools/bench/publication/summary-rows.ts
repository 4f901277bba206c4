import { variantOf } from '../variant-names.ts'
import type { Headline } from './page-tables.ts'

export const summaryRows: readonly Headline[] = [
  {
    title:
      'deliveries per CPU second with undici, relative to the reference loop (kafkajs + undici); responses after 0 / 20 / 200 ms',
    row: 'delivery',
    what: 'deliveries per CPU second, relative to the reference loop with undici',
    of: /^hookline undici,/,
  },
  {
    title:
      'deliveries per CPU second with undici, relative to Benthos 4.60 (the engine of Redpanda Connect) as shipped, with 2 idle connections per host; responses after 0 / 20 / 200 ms',
    row: 'peers',
    what: 'deliveries per CPU second, relative to benthos',
    of: /^hookline undici,/,
  },
  {
    title:
      'deliveries per CPU second with undici, relative to Benthos 4.60 with 16,384 idle connections per host; responses after 0 / 20 / 200 ms',
    row: 'peers',
    what: 'deliveries per CPU second, relative to benthos-tuned',
    of: /^hookline undici,/,
  },
  {
    title:
      'HTTPS, 1 host: deliveries per CPU second with undici, relative to Benthos 4.60 with 16,384 idle connections; responses after 0 / 20 / 200 ms',
    row: 'https',
    what: 'deliveries per CPU second, relative to benthos-tuned',
    of: /^hookline undici,.* 1 host$/,
  },
  {
    title:
      'HTTPS, 100 / 1,000 / 10,000 hosts: deliveries per CPU second with undici, relative to Benthos 4.60 with 16,384 idle connections',
    row: 'https',
    what: 'deliveries per CPU second, relative to benthos-tuned',
    of: /^hookline undici,.*0 hosts$/,
  },
  {
    title: 'HTTPS, 1,000 hosts: deliveries per CPU second with undici, relative to a loop in Go (franz-go + net/http)',
    row: 'https',
    what: 'deliveries per CPU second, relative to go-loop',
    of: /^hookline undici,.* 1,000 hosts$/,
  },
  {
    title: 'HTTPS, 100 / 1,000 / 10,000 hosts: new connections per delivery with undici',
    row: 'https',
    what: 'new connections per delivery',
    of: /^hookline undici,.*0 hosts$/,
  },
  {
    title: 'HTTPS, 10,000 hosts: deliveries per CPU second with undici, relative to 1,000 hosts',
    row: 'https',
    what: 'deliveries per CPU second, relative to 1,000 hosts',
  },
  {
    title: 'HTTPS, 1,000 hosts: deliveries per CPU second with got, relative to 1 host',
    row: 'https',
    what: 'deliveries per CPU second, relative to 1 host',
  },
  {
    title:
      'HTTPS, each response closes its connection: deliveries per CPU second, relative to Benthos 4.60 with 16,384 idle connections; undici / got',
    row: 'https',
    what: 'deliveries per CPU second, relative to benthos-tuned',
    of: /each response closes its connection$/,
  },
  {
    title:
      'deliveries per CPU second with got, relative to the reference loop (kafkajs + got); responses after 0 / 20 / 200 ms',
    row: 'delivery',
    what: 'deliveries per CPU second, relative to the reference loop with got',
    of: /^hookline got,/,
  },
  {
    title: 'peak memory with undici; 256 / 512 / 4,096 requests in progress',
    row: 'delivery',
    what: 'peak memory',
    of: /^hookline undici,/,
  },
  {
    title: 'p99 latency from append to response, at 1,000 events per second and responses after 20 ms; got / undici',
    row: 'live',
    what: 'p99',
    of: /^hookline /,
  },
  {
    title: 'HTTPS: p99 latency of live traffic, relative to plain HTTP; got / undici',
    row: 'https-latency',
    what: 'p99, relative to plain HTTP',
  },
  {
    title:
      '1 of 10 endpoints does not respond: share of the events for the other nine that are delivered within 1 s (1 means all); got / undici',
    row: 'isolation',
    what: 'share of the other events delivered within 1 s',
    of: new RegExp(`${variantOf.isolation('', 1, 10)}$`),
  },
  { title: 'SIGKILL at 1,000 events per second: lost events', row: 'crash', what: 'lost' },
  {
    title: 'SIGKILL at 1,000 events per second: duplicated events, divided by 1,000 events per second',
    row: 'crash',
    what: 'duplicated',
  },
  {
    title: 'SIGKILL at 1,000 events per second: time to the next delivery',
    row: 'crash',
    what: 'time to the next delivery',
  },
  {
    title:
      'CPU to write a retry to its topic and read it again, relative to a delivery of the reference loop; got / undici',
    row: 'retries',
    what: 'CPU of a retry, relative to a delivery of the reference loop',
  },
  {
    title: 'an endpoint recovers and gets its backlog: p99 of another endpoint, relative to its p99 before the outage',
    row: 'outage',
    what: 'p99 of the other endpoint, relative to before the outage',
  },
  { title: 'time from process start to first delivery', row: 'start', what: 'time to the first delivery' },
  { title: 'CPU of an idle process', row: 'idle', what: 'average CPU use' },
  {
    title:
      'collector: messages per CPU second, relative to a bare handler that writes with acks=all; 1 / 20 messages per request',
    row: 'collector',
    what: 'messages per CPU second, relative to the bare handler',
  },
  {
    title:
      "`track()`: CPU per message of @segment/analytics-node, relative to that of Hookline's client library; at full speed / at 2,000 calls per second",
    row: 'client',
    what: "CPU per message of @segment/analytics-node, relative to that of Hookline's library",
  },
  { title: 'audience members that a starting process reads from Kafka', row: 'audiences', what: 'members restored' },
  {
    title: 'CPU per delivery with 10 / 100 / 1,000 destinations, relative to one',
    row: 'destinations',
    what: 'CPU per delivery, relative to 1 destination',
  },
  {
    title: '10,000 destinations: time from process start until ready',
    row: 'destinations-10000',
    what: 'time from process start until ready',
  },
  {
    title:
      "10,000 destinations: p99 of the time from the operator API's response to a change until every process uses the change",
    row: 'destinations-10000',
    what: 'time until a change is in force, p99',
  },
  {
    title: '10,000 destinations: p99 latency with ten changes a second, relative to no changes',
    row: 'destinations-10000',
    what: 'p99 latency with changes, relative to no changes',
  },
  {
    title: '10,000 destinations: memory per destination',
    row: 'destinations-10000',
    what: 'memory per destination',
  },
  {
    title: 'operator API, 10,000 destinations and a million dead letters: complete responses that took more than 2 s',
    row: 'operator',
    what: 'complete responses that took more than 2 s',
  },
  {
    title: 'console, 10,000 destinations and a million dead letters: p95 of the time to load the slowest page',
    row: 'operator',
    what: 'p95 of the time to load the slowest page',
  },
  {
    title: 'operator process, 10,000 destinations and a million dead letters: peak memory',
    row: 'operator',
    what: 'peak memory',
  },
  {
    title:
      'p99 of the events for one destination during a resend of 100,000 events to another one, relative to no resend',
    row: 'resend',
    what: 'p99 of the live events, relative to no resend',
  },
  {
    title:
      '`ratePerSecond: 50`: deliveries in the busiest second; 1 process / rebalance / 2 processes / rebalance / 5 processes / rebalance / 2 processes / rebalance / 1 process',
    row: 'limits',
    what: 'deliveries in the busiest second',
  },
  {
    title: 'CPU per delivery with a backlog of 100,000 / 1,000,000 records, relative to 10,000 records',
    row: 'backlog',
    what: 'CPU per delivery, relative to a backlog of 10,000',
  },
  {
    title: 'CPU per delivery with 60 / 240 partitions, relative to 12',
    row: 'partitions',
    what: 'CPU per delivery, relative to 12 partitions',
  },
  {
    title: 'deliveries per second of two processes with a core each, relative to one process',
    row: 'processes',
    what: 'deliveries with a core each, relative to one process',
  },
]
