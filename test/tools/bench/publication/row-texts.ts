import type { RowName } from '../options.ts'

/** What each row (experiment of the bench) measures. The page shows the text above the results. */
export const rowTexts: Readonly<Record<RowName, string>> = {
  delivery:
    'The forwarder delivers a full topic, in three cases: the endpoint responds after 0 ms with at most 256 requests in progress, after 20 ms with 512, and after 200 ms with 4,096. The reference loop delivers the same topic with the same HTTP client.',
  peers:
    'Hookline, [Benthos](#against-other-products) with two different settings, `go-loop` and the reference loop deliver the same full topic, one after the other.',
  https:
    'The forwarder delivers a full topic over HTTPS to 1, 100, 1,000 or 10,000 hosts. Successive events go to successive hosts. Each host is one destination of Hookline. All hosts have the same server, but different names. With *shared core*, another process uses the core of the forwarder as much as it can. With *connections of 5 s*, a response closes its connection if the connection is at least 5 s old. *New connections per delivery* are those of the [measured part](#how-it-is-measured). For new connections and full TLS handshakes, the worst repetition counts.',
  'https-latency':
    'The bench runs the load of the row [live](#live), and one load of the row [isolation](#isolation), over HTTPS. All endpoints have the same host name. Directly before or after its run over HTTPS, the load of the row live also runs over plain HTTP. The bench computes the ratio of the two p99 latencies. A first load, which does not count, warms up the broker.',
  memory:
    'The forwarder delivers 300,000 events (HTTP client got) or 1,000,000 events (undici). The endpoint responds after 20 ms. Resident memory should not grow during the run, so the table compares its median in the last quarter of the run with its median in the second quarter.',
  live: 'The bench writes 1,000 events a second, evenly spread, for 30 s. The endpoint responds after 20 ms. The latencies include these 20 ms. [Benthos and `go-loop`](#against-other-products), and the reference loop with undici, get the same load.',
  isolation:
    'The bench writes 1,000 events a second for 10 or 50 destinations. *Dead* endpoints accept requests but never respond. A *limited* destination gets 100 events a second, but has `ratePerSecond: 20`, so its backlog grows. All figures are about the *other* events: those for destinations that are not limited, and whose endpoint is not dead. They are compared with a run without dead endpoints and limits.',
  start:
    'A process starts in an existing consumer group, while 1,000 events wait. The figure is the time from the start of the process to its first delivery, as the median of five starts.',
  crash:
    'A process gets SIGKILL while it delivers 1,000 events a second, and a new process starts immediately. *Seconds of traffic* are the number of duplicates divided by 1,000 events a second. Each figure is the worst of all repetitions.',
  retries:
    'The endpoint responds to two of three events first with a 503, and then with a success. *CPU of a retry* is the CPU time to write a record to a retry topic and to read it again. It does not include the two attempts. A second process of Hookline gets the same load, and also records both attempts in the [attempts topic](../reference/glossary.md#kafka-and-processes). *CPU of two records in the attempts topic* is the CPU time to record both attempts of one event. The sizes of records include key and headers. The reference loop uses undici.',
  outage:
    'Two endpoints get 1,000 events a second together. One of them stops responding while 100,000 events arrive for it, and then recovers. Hookline may have 64 requests to it in progress ([permits](../reference/glossary.md#flow-control)), and each takes 20 ms. So at most 3,200 requests a second are possible.',
  idle: 'A process has delivered events and now has nothing to do. The figure is its average CPU use.',
  client:
    "A process calls `track()` with messages of 800 bytes, at full speed and 2,000 times a second, with Hookline's client library and with @segment/analytics-node. In a third case, it makes 100,000 calls while no collector can be reached.",
  collector:
    'The bench sends requests with one message or with twenty messages over 32 connections. The requests go to the collector. For comparison, two minimal servers that use fastify get the same requests. The *bare handler* parses the body and writes each message to Kafka unchanged. The other server only parses the body.',
  audiences:
    'A process of the service audiences starts, and reads (*restores*) a million members of [audiences](../reference/glossary.md#audiences-and-deletions) from Kafka. The bench subtracts the CPU time of a start without members.',
  destinations:
    'The forwarder delivers a full topic to 1, 10, 100 or 1,000 destinations. Each event is for one of them.',
  'destinations-10000':
    'Two *dispatchers* (processes that deliver events) start with 10,000 destinations on the [config topic](../reference/glossary.md#kafka-and-processes). The time until ready is that of the slower one. Together, they deliver 1,000 events a second, in two loads: without changes, and while the operator API changes the URL of one destination ten times a second. A change is *in force* when events of all partitions go to the new URL. The time until then begins with the response of the operator API.',
  'destinations-100000':
    'Two *dispatchers* (processes that deliver events) start with 100,000 destinations. The time until ready is that of the slower one. Then they deliver 1,000 events a second together.',
  operator:
    'One operator process has 10,000 destinations, 1,000 sources and a million dead letters. The bench sends each kind of request of the [console](../how-to/use-the-console.md) 40 times, and loads each page of the console 40 times in Chromium. A response is *partial* if it says so in its field `partial`, for example because the process could not read all records in [about 0.6 s](../reference/operator-api.md#dead-letters). All others are *complete*. The time to load a page ends when all its responses are shown.',
  resend:
    'The bench writes 1,000 *live* events a second for one destination. While they are delivered, a [resend](../how-to/resend.md) delivers 100,000 earlier events again to another destination. The events are resent in 12 parts, four in each repetition. Each part is compared with a period of the same length, directly before or after it, in which the bench writes only live events. The operator process, which runs the resend, shares the core of the process that delivers. The latencies are medians of the 12 parts, and the duration is their sum.',
  limits:
    'A destination has `ratePerSecond: 50`, and 70 events a second arrive for it. The number of processes changes from 1 to 2, 5, 2 and 1. While the first process runs alone, the endpoint of another destination responds with 429 to all requests above 20 a second, and later above 40 a second.',
  backlog:
    'A process delivers a backlog of 10,000, 100,000 or 1,000,000 records. Before, it delivers 60,000 records that are not measured. The backlog of 1,000,000 is measured once. Its ratio is relative to the first measurement of 10,000, which the table does not show.',
  partitions:
    'One process delivers a full topic with 12, 60 or 240 partitions. Each retry topic has the same number of partitions.',
  processes:
    'One process, then two processes deliver a full topic. The two processes share one core. The bench calculates from their CPU time what they would deliver with a core each. This calculation ignores the network to a second machine. The peak memory of two processes is their sum.',
}
