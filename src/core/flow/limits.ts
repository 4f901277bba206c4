import { durationMs } from '../time.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/*
 * All constants that decide what waits, for how long, and in which order. They are not
 * configurable. The limits that are configurable are applied in concurrency-limiter.ts
 * (`delivery.maxInFlight`, `perWebhook` and `perHost`) and decide.ts (`schedule`). The constants for
 * access tokens are in token-limits.ts. A record passes the groups of the table from top to bottom.
 *
 * | group          | decides                                  | used in                          |
 * | -------------- | ---------------------------------------- | -------------------------------- |
 * | fetch          | how long a fetch waits, and its bytes    | deliver-batch.ts                 |
 * |                |                                          | compose-dispatcher.ts            |
 * | prefetch       | when a partition is paused and resumed   | prefetch-limits.ts               |
 * |                |                                          | partition-processor.ts           |
 * |                |                                          | spillover-controller.ts          |
 * | notDue         | how a retry record waits until it is due | partitions.ts                    |
 * | admission      | how long a record waits for a schema     | schema-wait.ts                   |
 * |                | and for a deletion                       | forged-delete-check.ts           |
 * | dispatch       | how many deliveries one tick handles     | bounded-loop.ts, coalesce.ts     |
 * |                |                                          | destination-queues.ts            |
 * | concurrency    | which destination gets the next permit   | concurrency-limiter.ts           |
 * |                |                                          | call-times.ts                    |
 * | circuitBreaker | when a destination gets no attempts      | circuit-breaker.ts               |
 * | share          | when an attempt may start under a limit  | partition-share.ts               |
 * |                | that holds for the whole installation    | paced-bucket.ts                  |
 * |                |                                          | follow-assignment.ts             |
 * |                |                                          | destination-limits.ts            |
 * | slowDown       | the pace of a destination after a 429    | slow-down.ts                     |
 * | spillover      | when queued deliveries leave memory      | slow-queue-since.ts              |
 * |                |                                          | spillover-controller.ts          |
 * | cpuSaturation  | whether the process is the bottleneck    | cpu-saturation.ts, event-loop.ts |
 * | deferral       | for how long a delivery is deferred      | decide.ts, paused-time.ts        |
 * | append         | how long a record waits for its batch    | producer.ts                      |
 * |                | and for a retry of the append            | append-until-stored.ts           |
 * | drain          | how long a stop waits                    | drain-before-stop.ts             |
 *
 * The comment of each constant gives its unit, the reason, and the effect of doubling the value.
 */
export const flowLimits = {
  fetch: {
    /**
     * Milliseconds for which a broker may hold a fetch when it has no records. Doubling it halves
     * the requests of an idle consumer, but the consumer then notices a rebalance later.
     */
    maxWait: durationMs(500),
    /**
     * As `maxWait`, but for the events topic while a partition is paused or revoked, or while the
     * group rebalances. Doubling it lets a resumed partition wait up to 100 ms longer for its next
     * fetch.
     */
    maxWaitWhilePaused: durationMs(100),
    /**
     * Maximum bytes of one fetch by a member of a consumer group, except from the retry topics.
     * Smaller fetches cost more CPU per delivery. Doubling them blocks the event loop longer while
     * a fetch is decoded, and a pause then discards more fetched bytes.
     */
    usual: { perPartition: 1_024 * kibibyte, total: 8_192 * kibibyte },
    /**
     * Maximum bytes of one fetch from the retry topics: about 200 copies of each partition.
     * Doubling them lets new events wait longer behind the retries of a fetch.
     */
    retries: { perPartition: 256 * kibibyte, total: 1_024 * kibibyte },
  },
  prefetch: {
    /**
     * Records in progress for each concurrent request that `delivery.maxInFlight` allows: one is
     * being sent, and one is ready. Doubling it takes more memory without more throughput.
     */
    recordsPerCall: 2,
    /**
     * Limits of a process, for all its partitions together. They limit its memory: a record takes
     * about 3 KB in addition to its bytes. The limit of records is at least `minRecordsNormal`, and
     * at least `minRecordsStalled` while the process is stalled. `dueSoon` limits records that are
     * not decoded yet. Doubling them takes twice the memory and causes less spillover.
     */
    inProcess: { minRecordsNormal: 600, minRecordsStalled: 2_000, bytes: 32 * mebibyte, dueSoon: 10_000 },
    /**
     * Maximum limits of one partition. `span` limits the offsets that are read again after a crash.
     * Doubling `span` would exceed the 24,000 offsets that the bitmap of the commit covers.
     */
    maxInPartition: { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 },
    /**
     * Minimum limits of one partition, for processes with very many partitions. Doubling them lets
     * a process with 2,000 partitions take twice the memory.
     */
    minInPartition: { recordsNormal: 25, records: 50, bytes: mebibyte / 2, dueSoon: 10 },
    /**
     * The part of its limits to which a paused partition must fall before it resumes. Doubling it
     * (to 1) makes a partition pause and resume with each record.
     */
    resumeBelow: 0.5,
    /**
     * Milliseconds for which the oldest record may be in progress before the process counts as
     * stalled. Until then, further records wait undecoded: decoded ones would outlive V8's young
     * generation and cost a fifth more CPU (docs/decisions/0043-hot-path-rules.md). Doubling it
     * lets the deliveries behind a slow destination wait 200 ms longer.
     */
    stallThresholdMs: 200,
  },
  notDue: {
    /**
     * The fetched records of a partition stay in memory when the next one is due within this time,
     * in milliseconds. Otherwise they are discarded and fetched again. Doubling it takes more
     * memory and saves repeated fetches.
     */
    dueSoonMs: 1_000,
    /**
     * Maximum milliseconds of one timer. At its end the process reads the clock again, because
     * timers do not count the time for which the machine was suspended. Doubling it makes a retry
     * up to 60 s late after a suspension.
     */
    maxTimerMs: 30_000,
  },
  admission: {
    /**
     * Milliseconds between two requests for an unknown schema while the registry cannot be used.
     * Doubling it lets the partition that waits for the schema resume up to one second later.
     */
    schemaRetryEvery: durationMs(1_000),
    /**
     * Milliseconds between two checks whether a delete message belongs to a deletion or is forged.
     * The user's next events wait for the result. Doubling it lets them wait up to 100 ms longer.
     */
    deletionCheckEvery: durationMs(100),
  },
  dispatch: {
    /**
     * Maximum number of deliveries that are deferred, dropped or requeued in one tick of the event
     * loop. This many take a few ms. Doubling it lets responses wait twice as long while a circuit
     * breaker is open.
     */
    maxPerTick: 64,
    /**
     * Maximum number of ended requests and deliveries in one notification. A delivery to one
     * webhook adds two. Doubling it lets more objects outlive V8's young generation.
     */
    maxCoalesced: 128,
    /**
     * Number of queues without free permits that get a turn when requests have ended, in addition
     * to one for each ended request. Doubling it gives them their turn sooner, but 1,000
     * destinations take more CPU.
     */
    minAsked: 16,
  },
  concurrency: {
    /**
     * Requests in progress that a destination may have for each free permit. With k destinations
     * that do not respond, 4/(k+4) of the permits stay free: 70 of 512 for 25 destinations.
     * Doubling it leaves 2/(k+2), which is 37 of 512.
     */
    perFreePermit: 1 / 4,
    /**
     * As `perFreePermit`, but while no other destination has requests in progress: the destination
     * then uses up to seven eighths of the permits. Doubling it lets the destination use 14 of 15
     * permits, and the next destination waits for one.
     */
    perFreePermitWhenAlone: 7,
    /**
     * A destination is never slow when its mean request time is at most this, in milliseconds.
     * Doubling it lets slower destinations take the last permit of a crowded host.
     */
    neverSlowMs: 100,
    /**
     * A destination is quick when its mean request time is at most this part of the typical time
     * (`CallTimes`). Doubling it makes more destinations count as quick.
     */
    quickPart: 1 / 8,
    /**
     * Milliseconds of one window in which request times are measured. The current and the previous
     * window count. Doubling it lets the typical time follow a change later.
     */
    callTimeWindowMs: 60_000,
    /**
     * Weight of the last request in a destination's mean request time. Doubling it makes a
     * destination slow after fewer slow requests.
     */
    lastCallWeight: 1 / 4,
  },
  circuitBreaker: {
    /**
     * Milliseconds of one step, and number of steps in the window of one minute. Doubling either
     * makes the circuit breaker open later, and lets older failures open it.
     */
    stepMs: 5_000,
    steps: 12,
    /**
     * Minimum number of attempts in the window before the circuit breaker can open. Doubling it
     * lets a destination with few events call a dead endpoint for longer.
     */
    minDeliveries: 10,
    /**
     * Part of the attempts that must fail to open the circuit breaker. Doubling it keeps the
     * circuit breaker closed forever.
     */
    openAtShare: 0.7,
    /**
     * Milliseconds from the opening to the first probe, and from a failed probe to the next one.
     * Doubling it lets deliveries wait up to 60 s after their endpoint has recovered.
     */
    openForMs: 30_000,
  },
  share: {
    /**
     * Milliseconds after its assignment in which a partition adds nothing to the rate of its new
     * owner, because the previous owner may learn of the same rebalance a little later. Doubling it
     * leaves the rate of moved partitions unused for another 250 ms.
     */
    handoverMs: 250,
    /**
     * Milliseconds of a rate that a destination may make up for, after a timer was late or the
     * process was busy. With 50 attempts per second these are 5. Doubling it permits bursts that
     * exceed the rate of one second by a fifth.
     */
    burstMs: 100,
    /**
     * Minimum number of attempts in a burst. With 1, each late timer would lose a part of the rate.
     * Five processes that share a rate of 50 make at most 60 attempts in a second, also when their
     * bursts meet. Doubling it lets them make 70.
     */
    minBurst: 2,
    /**
     * Milliseconds until a failed request for the number of partitions is repeated. Doubling it
     * lets destinations with limits wait a second longer after a broker failed.
     */
    countRetryMs: 1_000,
    /**
     * Maximum milliseconds until a queue that waits for its rate is asked again, so that a changed
     * configuration has effect. Doubling it lets a raised rate have effect 5 s later.
     */
    maxTimerMs: 5_000,
    /**
     * Maximum milliseconds until the turn of a delivery that leaves memory because of a limit.
     * Doubling it halves the copies of a long backlog, but a raised limit is used 5 minutes later.
     */
    maxTurnMs: 300_000,
    /**
     * Milliseconds for which a turn that has passed is still valid, if the delivery has to leave
     * memory again. Doubling it writes more copies when a limit was lowered.
     */
    turnValidMs: 60_000,
    /**
     * Minimum attempts per second from which turns are calculated. Below it, a delivery waits in
     * longer tiers each time. Doubling it calculates turns only for limits that are twice as high.
     */
    minPerSecond: 0.05,
  },
  slowDown: {
    /**
     * Time constant, in milliseconds, of the moving mean of delivered attempts per second. At low
     * rates it is the time of `meanOverAttempts`, if that is longer. Doubling them lets the pace
     * follow the endpoint later.
     */
    meanOverMs: 1_000,
    meanOverAttempts: 10,
    /**
     * Bounds of the factor by which a 429 lowers the pace. Between them, the pace falls to the mean
     * of delivered attempts. Doubling `minFactor` (to 1) would never lower a pace by more than
     * `maxFactor`.
     */
    minFactor: 0.5,
    maxFactor: 0.95,
    /**
     * Minimum milliseconds between two decreases. An endpoint that counts in windows of a second
     * refuses everything until the end of its window, which shows nothing about the next one.
     * Doubling it doubles the time until the pace has followed a limit that fell.
     */
    lowerEveryMs: 1_000,
    /**
     * Milliseconds without attempts after a 429. Each further 429 doubles them, and a delivery
     * resets them. Doubling the first leaves more of the endpoint's limit unused.
     */
    backOffMs: { first: 100, max: 1_000 },
    /**
     * Milliseconds for which the pace stays constant after a 429. Doubling it halves the number of
     * 429 in the long run, but a raised limit is found 20 s later.
     */
    holdMs: 20_000,
    /**
     * The growth of the pace after that, per second, and the milliseconds in which the growth rises
     * to it. Doubling the first lets the pace exceed the limit by twice as much before the next
     * 429. `growthPerAttempt` limits the growth at one delivered attempt, for a low pace.
     */
    growthPerSecond: 0.15,
    growthRampMs: 7_000,
    growthPerAttempt: 0.25,
    /**
     * If a 429 follows before the pace has grown to this multiple of the last pace that had no 429,
     * the new pace is half-way between that pace and the lowered one. Doubling it makes the pace
     * follow a doubled limit later.
     */
    nearFactor: 1.5,
    /**
     * The minimum pace in attempts per second, and the minimum at the first 429. Doubling the first
     * lets an endpoint that refuses everything get one attempt in 5 s from each process.
     */
    minPerSecond: 0.1,
    minFirstPerSecond: 1,
    /**
     * Maximum milliseconds for which a Retry-After pauses a destination. Doubling it lets an
     * endpoint with a wrong header get nothing for ten minutes.
     */
    maxPauseMs: 5 * 60_000,
    /**
     * Milliseconds after the last 429 until a destination has no pace again. Doubling it keeps the
     * destination in the metrics for ten minutes.
     */
    forgetAfterMs: 5 * 60_000,
  },
  spillover: {
    /**
     * Milliseconds for which the oldest delivery of a queue waits before its destination counts as
     * slow. Doubling it lets other destinations wait one second longer.
     */
    slowAfterMs: 1_000,
    /**
     * As `slowAfterMs`, but while the process lacks CPU. Then every queue waits for the process,
     * and spillover costs more CPU than a request. Doubling it lets other destinations wait 10 s
     * longer.
     */
    slowAfterMsWhenSaturated: 10_000,
    /**
     * Milliseconds between two checks of a paused partition; `stalled` is for a stalled process.
     * Doubling them lets the process notice a stall 20 ms later, and spill 250 ms later.
     */
    checkEvery: { normal: durationMs(20), stalled: durationMs(250) },
    /**
     * The part of a full partition that leaves memory at each check when all its records are for
     * one destination with a limit. The rest is work for that limit until the first ones come back
     * after 10 s. Doubling it leaves a part of the limit unused; halving it lets records of other
     * destinations wait twice as long behind a long backlog.
     */
    ownPart: 1 / 4,
  },
  cpuSaturation: {
    /**
     * Milliseconds between two samples of the event loop. Doubling it lets spillover notice CPU
     * saturation later.
     */
    sampleEveryMs: 250,
    /**
     * The busy part from which a sample counts as saturated: the event loop was idle for at most a
     * fiftieth of the time. Doubling it would let no sample count.
     */
    saturatedShare: 0.98,
    /**
     * Milliseconds since the previous sample after which a sample is late. A late sample also shows
     * saturation. Doubling it leaves longer blocks of the event loop unnoticed.
     */
    lateMs: 500,
  },
  deferral: {
    /**
     * Maximum milliseconds for which a delivery waits in memory for its `notBefore`. A delivery
     * with a longer wait is deferred. Doubling it takes more memory and writes fewer copies.
     */
    maxWaitInMemory: durationMs(10_000),
    /**
     * Milliseconds for which a delivery is deferred when its destination is unknown, because
     * processes load a new configuration up to one minute apart. Doubling it dead-letters the
     * deliveries of removed destinations later.
     */
    unconfigured: durationMs(60_000),
    /**
     * Maximum number of deferrals of an event that cannot be routed. They take 10 s, 30 s and one
     * minute. Doubling it lets the event be dead-lettered 15 minutes later.
     */
    maxUnrouted: 3,
    /**
     * Maximum milliseconds of a pause that do not count towards the retry window of a delivery,
     * with `lifecycle.pauseKeepsWindow`. Doubling it keeps suppressions for two days longer
     * (`maxDeliveryAge`), and more deliveries circulate through retry topics during a long pause.
     */
    maxPausedTime: durationMs(48 * 3_600_000),
    /**
     * The minimum wait of a paused delivery in its next retry topic, as a part of the paused time so
     * far; limited by the longest retry topic. Doubling it halves the copies that a long pause
     * writes, but after the pause a delivery may wait for another quarter of the time that it has
     * waited.
     */
    pausedPart: 1 / 8,
  },
  append: {
    /**
     * Milliseconds for which the producer collects the records of a batch. `patient` is for retry
     * topics, whose records wait in any case. Doubling them saves requests, but the collector
     * responds later.
     */
    linger: { usual: durationMs(5), patient: durationMs(20) },
    /**
     * Milliseconds before a failed append is repeated. Each further wait is twice as long, up to
     * `maxRetryMs`. Doubling both gives a broken broker less load, but appends recover later.
     */
    firstRetryMs: 500,
    maxRetryMs: 10_000,
  },
  drain: {
    /**
     * Milliseconds for which a stop waits for deliveries in progress: a request takes at most 5 s,
     * and a copy for a retry is appended after it. Doubling it may let a stop exceed its grace
     * period.
     */
    timeout: durationMs(8_000),
    /**
     * Milliseconds for which the stop then waits for the copies of deliveries that it has deferred.
     * Doubling it may let a stop exceed its grace period.
     */
    handOverTimeout: durationMs(2_000),
    /**
     * Milliseconds between two checks whether the stop is complete. Doubling it lets a stop take up
     * to 20 ms longer.
     */
    checkEvery: durationMs(20),
  },
}
