import { durationMs } from '../units.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/*
 * All constants that decide what waits, for how long, and in which order. They are not
 * configurable; `delivery.maxInFlight`, `perWebhook`, `perHost` and `schedule` are. A record passes
 * the groups of the table from top to bottom.
 *
 * | group          | decides                                            | used in                 |
 * | -------------- | -------------------------------------------------- | ----------------------- |
 * | fetch          | how long a fetch waits, how many bytes it returns  | Kafka consumers         |
 * | prefetch       | when a partition is paused and resumed             | core/flow, partitions   |
 * | notDue         | how a retry record waits until it is due           | partitions              |
 * | admission      | how long a record waits for a schema or a deletion | dispatcher, partitions  |
 * | dispatch       | how many deliveries one tick handles               | dispatcher              |
 * | concurrency    | which destination gets the next permit             | core/flow               |
 * | circuitBreaker | when a destination gets no attempts                | core/flow               |
 * | spillover      | when queued deliveries leave memory                | core/flow, dispatcher   |
 * | cpuSaturation  | whether the process itself is the bottleneck       | core/flow, event loop   |
 * | deferral       | how long a delivery is deferred without an attempt | core/delivery/decide.ts |
 * | append         | how long a record waits for its batch, its retries | Kafka producer, appends |
 * | drain          | how long a stop waits                              | dispatcher              |
 *
 * The comment of each constant gives its unit, the reason, and the effect of doubling the value.
 */
export const flowLimits = {
  fetch: {
    /**
     * Milliseconds that a broker holds a fetch without records. If doubled, it halves the idle
     * requests and slows down revocation.
     */
    maxWait: durationMs(500),
    /**
     * Milliseconds of the same wait, while a partition of the events topic is paused. If doubled, a
     * resumed partition is read 100 ms later.
     */
    maxWaitWhilePaused: durationMs(100),
    /**
     * Maximum bytes of one fetch from every topic except the retry topics. Small fetches cost more
     * per delivery. If doubled, decoding takes longer and a pause discards more.
     */
    usual: { perPartition: 1_024 * kibibyte, total: 8_192 * kibibyte },
    /**
     * Maximum bytes of one fetch from retry topics: about 200 copies of each partition. If doubled,
     * new events wait longer behind retries.
     */
    retries: { perPartition: 256 * kibibyte, total: 1_024 * kibibyte },
  },
  prefetch: {
    /**
     * Records in progress per permitted request: one is being sent, one is ready. If doubled, it
     * takes more memory without more throughput.
     */
    recordsPerCall: 2,
    /**
     * Limits of all partitions of a process together. They bound its memory: a record takes 3 KB in
     * addition to its bytes. `minRecordsNormal` applies while no partition is stalled,
     * `minRecordsStalled` otherwise. `dueSoon` counts records that are not decoded yet. If doubled,
     * they take twice the memory and avoid more spillover.
     */
    inProcess: { minRecordsNormal: 600, minRecordsStalled: 2_000, bytes: 32 * mebibyte, dueSoon: 10_000 },
    /**
     * Maximum of one partition. `span` counts the offsets that are read again after a crash. It
     * must stay below 24,000, which the bitmap of the commit covers.
     */
    maxInPartition: { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 },
    /**
     * Minimum of one partition, for processes with very many partitions. If doubled, a process with
     * 2,000 partitions may take twice the memory.
     */
    minInPartition: { recordsNormal: 25, records: 50, bytes: mebibyte / 2, dueSoon: 10 },
    /**
     * A paused partition resumes when it is below this part of its limits. If doubled (1), it
     * pauses and resumes with each record.
     */
    resumeBelow: 0.5,
    /**
     * Milliseconds that a record is in progress before its process counts as stalled. Until then,
     * records wait undecoded: decoded ones would outlive V8's young generation and cost a fifth
     * more CPU (docs/decisions/0043-hot-path-rules.md). If doubled, destinations behind a slow one
     * wait 200 ms longer.
     */
    stallThresholdMs: 200,
  },
  notDue: {
    /**
     * Milliseconds before its due time from which a fetched record is kept in memory. If doubled,
     * it takes more memory and saves repeated fetches.
     */
    dueSoonMs: 1_000,
    /**
     * Milliseconds of the longest single timer, after which the clock is read again. If doubled, a
     * retry is up to 60 s late after the machine was suspended.
     */
    maxTimerMs: 30_000,
  },
  admission: {
    /**
     * Milliseconds between requests for an unknown schema while the registry fails. If doubled, a
     * partition resumes one second later.
     */
    schemaRetryEvery: durationMs(1_000),
    /**
     * Milliseconds between checks of a deletion that is not confirmed yet. If doubled, the user's
     * next events wait 100 ms longer.
     */
    deletionCheckEvery: durationMs(100),
  },
  dispatch: {
    /**
     * Deliveries that are deferred, dropped or requeued in one tick of the event loop. They take a
     * few ms. If doubled, responses wait twice as long while a circuit breaker is open.
     */
    maxPerTick: 64,
    /**
     * Ended requests and deliveries that one notification covers, two per delivery. If doubled,
     * more objects outlive V8's young generation.
     */
    maxCoalesced: 128,
    /**
     * Blocked queues checked after each notification, in addition to one for each ended request. If
     * doubled, the queues have their turn sooner, and 1,000 destinations take more CPU.
     */
    minAsked: 16,
  },
  concurrency: {
    /**
     * A destination may have one request in progress for every four free permits. With k
     * destinations that do not respond, 4/(k+4) of the permits stay free: 70 of 512 for 25
     * destinations. If doubled, it is 2/(k+2), which is 37 of 512.
     */
    perFreePermit: 1 / 4,
    /**
     * The same for a destination that is alone: it uses seven eighths of the permits. If doubled,
     * it uses 14 of 15, and the next destination waits for a permit.
     */
    perFreePermitWhenAlone: 7,
    /**
     * Milliseconds. A destination whose mean request time is below this is never slow. If doubled,
     * slower destinations may take the last permit of a crowded host.
     */
    neverSlowMs: 100,
    /**
     * A request is quick when it takes at most this part of the typical time. If doubled, more
     * destinations count as quick.
     */
    quickPart: 1 / 8,
    /**
     * Milliseconds of the window in which request times are measured; the current and the previous
     * window count. If doubled, a recovered destination counts as slow for longer.
     */
    callTimeWindowMs: 60_000,
    /**
     * Weight of the last request in a destination's mean. If doubled, one slow request makes a
     * destination slow.
     */
    lastCallWeight: 1 / 4,
  },
  circuitBreaker: {
    /**
     * Milliseconds of one step, and number of steps in the window of one minute. If doubled, the
     * circuit breaker opens later and on older failures.
     */
    stepMs: 5_000,
    steps: 12,
    /**
     * Minimum number of deliveries in the window before the circuit breaker can open. If doubled, a
     * destination with few events calls a dead endpoint for longer.
     */
    minDeliveries: 10,
    /** Part of failed deliveries that opens the circuit breaker. If doubled, it never opens. */
    openAtShare: 0.7,
    /**
     * Milliseconds from opening to the first probe, and between probes. If doubled, a recovered
     * endpoint waits up to 60 s.
     */
    openForMs: 30_000,
  },
  spillover: {
    /**
     * Milliseconds that the oldest queued delivery waits before its destination counts as slow. If
     * doubled, other destinations wait one second longer.
     */
    slowAfterMs: 1_000,
    /**
     * The same while the process lacks CPU. Every queue waits for the process then, and spillover
     * costs more CPU than the request. If doubled, other destinations wait 10 s longer.
     */
    slowAfterMsWhenSaturated: 10_000,
    /**
     * Milliseconds between checks of a paused partition. If doubled, the process notices a stall 20
     * ms later and spills 250 ms later.
     */
    checkEvery: { normal: durationMs(20), stalled: durationMs(250) },
  },
  cpuSaturation: {
    /**
     * Milliseconds between samples of the event loop. If doubled, spillover notices CPU saturation
     * later.
     */
    sampleEveryMs: 250,
    /**
     * Busy part of a sample that counts as saturated: the loop was idle for less than a fiftieth.
     * If doubled, no sample counts.
     */
    saturatedShare: 0.98,
    /**
     * Milliseconds after which a sample is late. A late sample shows saturation too. If doubled,
     * long blocks of the event loop are not noticed.
     */
    lateMs: 500,
  },
  deferral: {
    /**
     * Milliseconds that a delivery waits in memory for its `notBefore`; with a longer wait it is
     * deferred. If doubled, it takes more memory and writes fewer copies.
     */
    maxWaitInMemory: durationMs(10_000),
    /**
     * Milliseconds that a delivery for an unknown destination is deferred. Processes load a new
     * configuration up to one minute apart. If doubled, typing errors are dead-lettered later.
     */
    unconfigured: durationMs(60_000),
    /**
     * Deferrals of an event that cannot be routed: 10 s, 30 s and one minute. If doubled, it is
     * dead-lettered minutes later.
     */
    maxUnrouted: 3,
  },
  append: {
    /**
     * Milliseconds that the producer collects a batch. `patient` is for retry topics, whose records
     * wait anyway. If doubled, there are fewer requests, and the collector responds more slowly.
     */
    linger: { usual: durationMs(5), patient: durationMs(20) },
    /**
     * Milliseconds before a failed append is repeated. The wait doubles each time, up to
     * `maxRetryMs`. If doubled, a broken broker gets less load and appends recover later.
     */
    firstRetryMs: 500,
    maxRetryMs: 10_000,
  },
  drain: {
    /**
     * Milliseconds that a stop waits for deliveries in progress: a request takes at most 5 s, then
     * its copy is appended. If doubled, a stop may exceed its grace period.
     */
    timeout: durationMs(8_000),
    /**
     * Milliseconds that a stop then waits for the copies of the remaining deliveries. If doubled, a
     * stop may exceed its grace period.
     */
    handOverTimeout: durationMs(2_000),
    /**
     * Milliseconds between checks whether the stop is complete. If doubled, a stop takes 20 ms
     * longer.
     */
    checkEvery: durationMs(20),
  },
}
