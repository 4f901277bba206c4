import { durationMs } from '../units.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/*
 * Every constant that decides what waits, for how long, and what else goes first. None of them is
 * configurable; `delivery.maxInFlight`, `perWebhook`, `perHost` and `schedule` are. A record passes
 * the groups of the table from top to bottom.
 *
 * | group          | decides                                             | used in                  |
 * | -------------- | --------------------------------------------------- | ------------------------ |
 * | fetch          | how long a fetch waits, how much it brings          | Kafka consumers          |
 * | prefetch       | when a partition is paused and resumed              | core/flow, partitions    |
 * | notDue         | what a record of a retry topic waits for            | partitions               |
 * | admission      | how long a record waits for a schema or a deletion  | dispatcher, partitions   |
 * | dispatch       | how many deliveries one tick handles                | dispatcher               |
 * | concurrency    | which destination gets the next permit              | core/flow                |
 * | circuitBreaker | when a destination gets no attempts                 | core/flow                |
 * | spillover      | when queued deliveries leave memory                 | core/flow, dispatcher    |
 * | cpuSaturation  | whether the process itself is the bottleneck        | core/flow, event loop    |
 * | deferral       | how long a delivery is deferred without an attempt  | core/delivery/decide.ts  |
 * | append         | how long a record waits for its batch, its retries  | Kafka producer, appends  |
 * | drain          | how long a stop waits                               | dispatcher               |
 *
 * The comment of each constant gives its unit, the reason, and the effect of a doubled value.
 */
export const flowLimits = {
  fetch: {
    /** ms that a broker holds a fetch without records. Doubled: half as many idle requests; revocation is slower. */
    maxWait: durationMs(500),
    /** ms, while a partition of the events topic is paused. Doubled: a resumed partition is read 100 ms later. */
    maxWaitWhilePaused: durationMs(100),
    /** Bytes of one fetch, all topics but those of retries. Small fetches cost more per delivery. Doubled: longer decoding, more thrown away on a pause. */
    usual: { perPartition: 1_024 * kibibyte, total: 8_192 * kibibyte },
    /** Bytes of one fetch of retries: some 200 copies of a partition. Doubled: new events wait longer behind retries. */
    retries: { perPartition: 256 * kibibyte, total: 1_024 * kibibyte },
  },
  prefetch: {
    /** Records in progress per permitted call: one is called, one is ready. Doubled: more memory, no more throughput. */
    recordsPerCall: 2,
    /**
     * Of all partitions of a process together: they bound its memory (3 KB a record beside its bytes).
     * `minRecordsNormal` holds while nothing is stalled, `minRecordsStalled` after that. `dueSoon` counts
     * undecoded records. Doubled: twice the memory, and more spillover is avoided.
     */
    inProcess: { minRecordsNormal: 600, minRecordsStalled: 2_000, bytes: 32 * mebibyte, dueSoon: 10_000 },
    /** Maximum of one partition. `span`: offsets read again after a crash. Doubled: the commit's bitmap covers no more than 24,000. */
    maxInPartition: { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 },
    /** Minimum of one partition, with very many of them. Doubled: 2,000 partitions may double the memory. */
    minInPartition: { recordsNormal: 25, records: 50, bytes: mebibyte / 2, dueSoon: 10 },
    /** Part of its limits below which a paused partition resumes. Doubled (1): pause and resume alternate with each record. */
    resumeBelow: 0.5,
    /**
     * ms that a record is in progress before its process counts as stalled. Below, records wait undecoded:
     * decoded ones outlive V8's young space and cost a fifth more (docs/decisions/0043-hot-path-rules.md).
     * Doubled: destinations behind a slow one wait 200 ms longer.
     */
    stallThresholdMs: 200,
  },
  notDue: {
    /** ms before its time that a fetched record is kept. Doubled: more memory, fewer repeated fetches. */
    dueSoonMs: 1_000,
    /** ms of the longest single timer: the clock is read again after it. Doubled: after a pause of the machine a retry is up to 60 s late. */
    maxTimerMs: 30_000,
  },
  admission: {
    /** ms between requests for an unknown schema while the registry fails. Doubled: a partition resumes a second later. */
    schemaRetryEvery: durationMs(1_000),
    /** ms between checks of a deletion that is not confirmed yet. Doubled: the user's next events wait 100 ms longer. */
    deletionCheckEvery: durationMs(100),
  },
  dispatch: {
    /** Deliveries deferred, dropped or requeued in one tick of the event loop: some ms. Doubled: responses wait twice as long behind an open circuit breaker. */
    maxPerTick: 64,
    /** Ended calls and deliveries followed by one notification, two per delivery. Doubled: more objects outlive the young space. */
    maxCoalesced: 128,
    /** Blocked queues asked after each notification, besides one for each end. Doubled: more CPU with 1,000 destinations, shorter rounds. */
    minAsked: 16,
  },
  concurrency: {
    /**
     * A destination's own calls per free permit. With k hung destinations 4/(k+4) of the permits stay
     * free: 70 of 512 for 25. Doubled: 2/(k+2), 37 of 512.
     */
    perFreePermit: 1 / 4,
    /** The same, for the only destination: it uses seven eighths. Doubled: 14 of 15, and the next one waits for a permit. */
    perFreePermitWhenAlone: 7,
    /** ms. A destination with a shorter mean is never slow. Doubled: slower ones may take the last permit of a crowded host. */
    neverSlowMs: 100,
    /** Part of the typical time of a permit up to which a call is quick. Doubled: more destinations count as quick. */
    quickPart: 1 / 8,
    /** ms of the window of call times; it and the one before count. Doubled: a recovered destination is slow for longer. */
    callTimeWindowMs: 60_000,
    /** Weight of the last call in a destination's mean. Doubled: one slow call makes a destination slow. */
    lastCallWeight: 1 / 4,
  },
  circuitBreaker: {
    /** ms of one step, and steps in the window (a minute). Doubled: it opens later and on older failures. */
    stepMs: 5_000,
    steps: 12,
    /** Deliveries in the window, before they say anything. Doubled: a quiet destination calls a dead endpoint for longer. */
    minDeliveries: 10,
    /** Failed part of them that opens it. Doubled: never. */
    openAtShare: 0.7,
    /** ms between opening and the first probe, and between probes. Doubled: a recovered endpoint waits up to 60 s. */
    openForMs: 30_000,
  },
  spillover: {
    /** ms that the oldest queued delivery waits before its destination is slow. Doubled: others wait a second longer. */
    slowAfterMs: 1_000,
    /** The same, while the process lacks CPU: every queue waits for it then, and spillover costs more CPU than the call. Doubled: others wait 10 s longer. */
    slowAfterMsWhenSaturated: 10_000,
    /** ms between checks of a paused partition. Doubled: the process notices a stall 20 ms later, and spills 250 ms later. */
    checkEvery: { normal: durationMs(20), stalled: durationMs(250) },
  },
  cpuSaturation: {
    /** ms between samples of the event loop. Doubled: spillover learns of a saturated process later. */
    sampleEveryMs: 250,
    /** Busy part of a sample: it idled for less than a fiftieth. Doubled: never. */
    saturatedShare: 0.98,
    /** ms after which a sample is late, which shows saturation too. Doubled: long blocks of the event loop go unnoticed. */
    lateMs: 500,
  },
  deferral: {
    /** ms that a delivery waits in memory for its `notBefore`; beyond it is deferred. Doubled: fewer copies, more memory. */
    maxWaitInMemory: durationMs(10_000),
    /** ms of the deferral for an unknown destination: configurations arrive up to a minute apart. Doubled: typing errors are dead-lettered later. */
    unconfigured: durationMs(60_000),
    /** Deferrals of an event that cannot be routed: 10 s, 30 s, a minute. Doubled: it is dead-lettered after minutes more. */
    maxUnrouted: 3,
  },
  append: {
    /** ms that the producer collects a batch; `patient` for retry topics, whose records wait anyway. Doubled: fewer requests, slower answers of the collector. */
    linger: { usual: durationMs(5), patient: durationMs(20) },
    /** ms before a failed append is repeated, doubled each time. Doubled: slower recovery, less load on a broken broker. */
    firstRetryMs: 500,
    maxRetryMs: 10_000,
  },
  drain: {
    /** ms that a stop waits: a call takes at most 5 s, then its copy is appended. Doubled: a stop may exceed its grace period. */
    timeout: durationMs(8_000),
    /** ms for the copies that a hand-over appends. Doubled: the same. */
    handOverTimeout: durationMs(2_000),
    /** ms between checks. Doubled: a stop takes 20 ms more. */
    checkEvery: durationMs(20),
  },
}
