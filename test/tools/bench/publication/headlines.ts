import type { Headline } from './tables.ts'

/** What README.md tells: the bars that say most. */
export const headlines: readonly Headline[] = [
  {
    title: 'deliveries per CPU second, undici, of the reference loop (kafkajs + undici); answers after 0 / 20 / 200 ms',
    row: 'delivery',
    what: 'of bare undici',
    of: /^hookline undici,/,
  },
  {
    title:
      'the same, of Benthos 4.60, the engine of Redpanda Connect, as shipped (2 idle connections per host), in turn',
    row: 'peers',
    what: 'of benthos',
    of: /^hookline undici,/,
  },
  {
    title: 'the same, of Benthos 4.60 tuned (8,192 idle connections per host), in turn',
    row: 'peers',
    what: 'of benthos-tuned',
    of: /^hookline undici,/,
  },
  {
    title: 'deliveries per CPU second, got, of the reference loop (kafkajs + got); the same',
    row: 'delivery',
    what: 'of bare got',
    of: /^hookline got,/,
  },
  {
    title: 'peak memory, undici; 256 / 512 / 4,096 calls in flight',
    row: 'delivery',
    what: 'peak memory',
    of: /^hookline undici,/,
  },
  {
    title: '1,000 events per second, answers after 20 ms: p99 from append to answer; got / undici',
    row: 'live',
    what: 'p99',
    of: /^hookline /,
  },
  {
    title: '1 of 10 endpoints hangs: part of the others’ events in time; got / undici',
    row: 'isolation',
    what: 'healthy events in time',
    of: /, 1 of 10 dead/,
  },
  { title: 'SIGKILL under load: lost', row: 'crash', what: 'lost' },
  { title: 'SIGKILL under load: delivered twice', row: 'crash', what: 'delivered twice' },
  { title: 'SIGKILL under load: next delivery after', row: 'crash', what: 'next delivery after' },
  {
    title: 'parking a failed delivery and taking it up again, of a bare delivery; got / undici',
    row: 'retries',
    what: 'park and release, of a bare delivery',
  },
  {
    title: 'an endpoint gets what it has missed: p99 of another one meanwhile, to that before',
    row: 'outage',
    what: 'p99 of the other endpoint, of that before',
  },
  { title: 'start to first delivery', row: 'start', what: 'first delivery after' },
  { title: 'CPU when there is nothing to do', row: 'idle', what: 'CPU' },
  {
    title: 'collector, messages a CPU second, of a bare handler that writes with acks=all; 1 / 20 in a request',
    row: 'collector',
    what: 'of bare fastify, written',
  },
  {
    title: '`track()`: times cheaper than @segment/analytics-node; at full speed / at 2,000 per second',
    row: 'client',
    what: 'times cheaper than @segment/analytics-node',
  },
  { title: 'members of audiences restored', row: 'audiences', what: 'restored' },
  {
    title: 'CPU a delivery with 10 / 100 / 1,000 destinations, to that with one',
    row: 'destinations',
    what: 'of that with 1 destination',
  },
  {
    title: 'the same with a longer backlog, to that with 10,000 records; 10⁵ / 10⁶ / on request 10⁷',
    row: 'backlog',
    what: 'of that with backlog of 10,000',
  },
  {
    title: 'the same with 60 / 240 partitions, to that with 12',
    row: 'partitions',
    what: 'of that with 12 partitions',
  },
  {
    title: 'two processes, to one, worked out for a core each',
    row: 'processes',
    what: 'of one process, worked out for a core each',
  },
]
