import { durationMs } from '../time.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/*
 * The constants of flow control: they decide which records and deliveries wait, and how long. They
 * are not configurable. Configurable limits are applied in concurrency-limiter.ts
 * (`delivery.maxInFlight`, `perWebhook` and `perHost`) and decide.ts (`schedule`). Constants for
 * access tokens are in token-timing-constants.ts. A record passes the groups of the table from top
 * to bottom.
 *
 * | group          | decides                                  | used mainly in                       |
 * | -------------- | ---------------------------------------- | ------------------------------------ |
 * | fetch          | how long a fetch waits, and its bytes    | fetch-size-limits.ts                 |
 * |                |                                          | start-dispatcher.ts                  |
 * | prefetch       | when a partition is paused and resumed   | prefetch-limits.ts                   |
 * |                |                                          | partition-processor.ts               |
 * |                |                                          | spillover-controller.ts              |
 * | notDue         | how a retry record waits until it is due | partitions.ts                        |
 * | admission      | how long a record waits for a schema,    | schema-wait.ts                       |
 * |                | for a deletion and for an audience       | forged-delete-check.ts               |
 * |                |                                          | input-wait-for-unknown-audience.ts   |
 * | dispatch       | how many deliveries one tick handles     | bounded-loop.ts                      |
 * |                |                                          | collect-items-per-tick.ts            |
 * |                |                                          | destination-queues.ts                |
 * | concurrency    | which destination gets the next permit   | concurrency-limiter.ts               |
 * |                |                                          | permit-holding-times.ts              |
 * |                |                                          | destination-limits.ts                |
 * | connecting     | how many requests connect together       | connecting-requests.ts               |
 * | circuitBreaker | when a destination gets no attempts      | circuit-breaker.ts                   |
 * | share          | when an attempt may start under a limit  | limit-share-by-partitions.ts         |
 * |                | that holds for the whole installation    | paced-token-bucket.ts                |
 * |                |                                          | follow-assignment-for-limit-share.ts |
 * |                |                                          | destination-limits.ts                |
 * |                |                                          | defer-by-limit.ts                    |
 * | slowDown       | the pace of a destination after a 429    | slow-down-after-429.ts               |
 * | spillover      | when queued deliveries leave memory      | slow-queue-threshold.ts              |
 * |                |                                          | spillover-controller.ts              |
 * | cpuSaturation  | whether the process is the bottleneck    | cpu-saturation.ts,                   |
 * |                |                                          | watch-cpu-saturation.ts              |
 * | deferral       | for how long a delivery is deferred      | decide.ts, paused-time.ts            |
 * | append         | how long a record waits for its batch    | producer.ts                          |
 * |                | and for a retry of the append            | append-until-stored.ts               |
 * | drain          | how long a stop waits                    | drain-before-stop.ts                 |
 *
 * Each comment says what the constant is and, if necessary, why it has this value. The sentence
 * that begins with `If doubled:` says what happens with twice the value. A comment before several
 * constants applies to all of them.
 */
export const flowLimits = {
  fetch: {
    /**
     * How long a broker may hold a fetch while it has no records. If doubled: an idle consumer
     * sends half as many fetches, but notices a rebalance later.
     */
    maxWait: durationMs(500),
    /**
     * Replaces `maxWait` for the events topic during rebalances and while a partition is paused. A
     * partition that resumes during a fetch must wait until this fetch ends. If doubled: a resumed
     * partition waits up to 100 ms longer for its next fetch.
     */
    maxWaitWhilePaused: durationMs(100),
    /**
     * Maximum bytes of a consumer group's fetch, from all topics except the retry topics. Smaller
     * fetches cost more CPU time per delivery. If doubled: the event loop is blocked longer while a
     * fetch is decoded.
     */
    usual: { perPartition: 1_024 * kibibyte, total: 8_192 * kibibyte },
    /**
     * Maximum bytes of one fetch from the retry topics, about 200 records per partition. If
     * doubled: new events wait longer while the process handles one fetch of retry records.
     */
    retries: { perPartition: 256 * kibibyte, total: 1_024 * kibibyte },
  },
  prefetch: {
    /**
     * Number of records in memory for each request that `delivery.maxInFlight` permits. While one
     * record is being sent, the next one is ready. If doubled: the process needs more memory,
     * without more throughput.
     */
    recordsPerCall: 2,
    /**
     * Limits for all partitions of a process together: records, their bytes, and undecoded records
     * that wait until they are due (`dueSoonRecords`). The limit of records is `recordsPerCall`
     * times `delivery.maxInFlight`, but at least `minRecordsNormal` or, while the process is
     * stalled, `minRecordsStalled`. If doubled: records (about 3 KB each, plus their bytes) take
     * twice the memory.
     */
    inProcess: { minRecordsNormal: 600, minRecordsStalled: 2_000, bytes: 32 * mebibyte, dueSoonRecords: 10_000 },
    /**
     * Maximum of each limit of one partition. `span` is the maximum number of offsets that are read
     * again after a crash. If doubled: `span` exceeds the 24,000 offsets that an offset commit's
     * bitmap can cover.
     */
    maxInPartition: { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoonRecords: 1_000 },
    /**
     * Maximum deliveries in memory of a partition, as a multiple of its record limit. The limit
     * matters only if records have more than 32 destinations on average. If doubled: with 1,000
     * destinations, the deliveries take twice as much memory as the records.
     */
    deliveriesPerRecord: 32,
    /**
     * Minimum of each limit of one partition; `records` applies while the process is stalled. The
     * minimums matter only in a process with very many partitions. If doubled: a process with 2,000
     * partitions can need twice the memory.
     */
    minInPartition: { recordsNormal: 25, records: 50, bytes: mebibyte / 2, dueSoonRecords: 10 },
    /**
     * A partition pauses when it exceeds one of its limits (records, deliveries, bytes, span). The
     * partition resumes when all four are at most this part of their limits. If doubled: a full
     * partition pauses and resumes with each record.
     */
    resumeBelow: 0.5,
    /**
     * A partition below this part of its limits keeps deliveries in memory for up to
     * `maxWaitInMemory` until they are due; otherwise, for up to `maxWaitWithoutRoom`. The value is
     * below `resumeBelow`: a paused partition must resume while these deliveries wait. If doubled:
     * a paused partition may resume only after all its due records are done.
     */
    notDueBelow: 0.25,
    /**
     * A process is *stalled* when a record has been in progress for this time. A stalled process
     * keeps more records, which costs a fifth more CPU (docs/decisions/0043-hot-path-rules.md). If
     * doubled: records after those of a slow destination are read 200 ms later.
     */
    stallThresholdMs: 200,
  },
  notDue: {
    /**
     * Fetched retry records stay in memory if the first is due within this time. Otherwise, they
     * are discarded and fetched again later. If doubled: retry records take more memory, but fewer
     * are fetched twice.
     */
    dueSoonMs: 1_000,
    /**
     * Maximum duration of the timer that waits until a retry record is due. Timers do not count the
     * time for which the machine was suspended. If doubled: after a suspension, a retry is up to 60
     * s late.
     */
    maxTimerMs: 30_000,
  },
  admission: {
    /**
     * Time between two requests to the registry for an unknown schema. If doubled: the partition
     * that waits for the schema resumes up to one second later.
     */
    schemaRetryEvery: durationMs(1_000),
    /**
     * How long a partition waits for a new schema id that the registry lacks. A follower of the
     * registry may get a new schema a little later. If doubled: a record with an unknown id stops
     * its partition for 20 s.
     */
    newSchemaWait: durationMs(10_000),
    /**
     * Minimum time from the start of one `newSchemaWait` to the next. Records with invented schema
     * ids can thus pause a partition for at most 10 s per minute. If doubled: more records whose
     * new schema is still missing are dead-lettered.
     */
    newSchemaWaitEvery: durationMs(60_000),
    /**
     * Time between two checks of the suppression list, which has the deletions of users. A record
     * that deletes a user waits until the list includes all earlier deletions. If doubled: a record
     * that deletes a user waits up to 100 ms longer.
     */
    deletionCheckEvery: durationMs(100),
    /**
     * Age at which an audience input is ignored if its audience is still unknown. Younger inputs
     * wait: processes load a new configuration up to one minute apart. If doubled: after an
     * audience was removed, its inputs stop partitions two minutes longer.
     */
    unknownAudience: durationMs(120_000),
    /**
     * Time between two checks whether the audience of a waiting input is configured now. If
     * doubled: the partition of the waiting input resumes up to one second later.
     */
    audienceCheckEvery: durationMs(1_000),
  },
  dispatch: {
    /**
     * Maximum number of deliveries that are deferred, dropped or requeued in one tick. 64
     * deliveries take a few milliseconds. If doubled: during deferrals, HTTP responses wait twice
     * as long for the event loop.
     */
    maxPerTick: 64,
    /**
     * The dispatch loop handles at most this number of ended requests and deliveries together. If
     * doubled: more objects outlive V8's young generation, which costs CPU time.
     */
    maxCoalesced: 128,
    /**
     * When requests end, this many waiting destination queues may try to start an attempt. In
     * addition, one queue may try for each ended request. If doubled: waiting queues try sooner,
     * but 1,000 destinations cost more CPU time.
     */
    minQueuesToTry: 16,
  },
  /**
   * A *permit* is a slot for one request in progress. A request needs permits of the process, the
   * host and the webhook.
   */
  concurrency: {
    /**
     * Maximum permits of one destination, as a part of the process's free permits. 25 destinations
     * that do not respond leave 70 of 512 permits free. If doubled: 25 destinations that do not
     * respond leave only 37 permits free.
     */
    perFreePermit: 1 / 4,
    /**
     * Replaces `perFreePermit` while no other destination has requests in progress. A single busy
     * destination may hold seven eighths of all permits. If doubled: a second destination may have
     * to wait until a permit is free.
     */
    perFreePermitWhenAlone: 7,
    /**
     * A destination whose mean request time is at most this time is never slow. Slow destinations
     * leave the last free permit of a limit to quick destinations. `AttemptSample` uses this time
     * too. If doubled: destinations with slower requests may take the last permit.
     */
    neverSlowMs: 100,
    /**
     * A destination is slow if its mean request time exceeds this part of
     * `PermitHoldingTimes.durationWeightedMeanMs`, a mean in which long requests weigh more than
     * short ones. If doubled: more destinations count as quick and may take the last free permit.
     */
    slowAbovePart: 1 / 8,
    /**
     * Length of the windows in which request times are measured. The current and the previous
     * window determine `PermitHoldingTimes.durationWeightedMeanMs`. If doubled: this mean follows a
     * change later.
     */
    callTimeWindowMs: 60_000,
    /**
     * Weight of the last request in a destination's mean request time. If doubled: a destination
     * counts as slow after fewer slow requests.
     */
    lastCallWeight: 1 / 4,
    /**
     * Attempts wait for a webhook that has reached `policy.maxConcurrency`. After this many
     * consecutive requests without a response, they skip the webhook. The number is higher if more
     * requests to the webhook are in progress. If doubled: a webhook that never responds can stop
     * its destination 15 s longer.
     */
    minUnanswered: 3,
  },
  connecting: {
    /**
     * Maximum requests of a process that open a connection at the same time. With 256, endpoints
     * that close each connection cost a fifth more CPU time. If doubled: after a restart, a request
     * may wait 1.6 s for its TLS handshake.
     */
    max: 384,
    /**
     * After this time, a connecting request no longer counts for `max`. An endpoint that does not
     * respond must not delay requests to other endpoints. If doubled: three dead hosts delay new
     * connections to other hosts for a second.
     */
    countedMs: durationMs(500),
    /**
     * Replaces `countedMs` while the process lacks CPU. Without CPU, the process itself may be why
     * requests are not connected yet. If doubled: three dead hosts delay new connections to other
     * hosts for 4 s.
     */
    countedMsWhenSaturated: durationMs(2_000),
  },
  circuitBreaker: {
    /**
     * A circuit breaker counts the attempts of the last 12 steps of 5 s. If doubled: the circuit
     * breaker opens later, and older failures can open it.
     */
    stepMs: 5_000,
    steps: 12,
    /**
     * Minimum attempts in one minute before the circuit breaker of a destination can open. If
     * doubled: a dead endpoint with few events gets requests for longer.
     */
    minDeliveries: 10,
    /**
     * The circuit breaker opens when this part of the last minute's attempts has failed. If
     * doubled: the circuit breaker never opens.
     */
    openAtShare: 0.7,
    /**
     * Time without attempts before a probe, which tests whether the endpoint has recovered. If
     * doubled: deliveries wait up to 60 s after their endpoint has recovered.
     */
    openForMs: 30_000,
  },
  /**
   * `policy.ratePerSecond` and `policy.maxConcurrency` are divided among the partitions of the
   * events topic. Each process uses the parts of the partitions that it owns.
   */
  share: {
    /**
     * Time from the assignment of a partition until the owner uses the partition's rate. The
     * previous owner may learn of the rebalance later, and still use the rate. If doubled: the rate
     * of a moved partition stays unused for another 250 ms.
     */
    handoverMs: 250,
    /**
     * A burst has at most the attempts that the rate permits in this time. A burst occurs after a
     * late timer or while the process is busy. If doubled: attempts in one second can exceed the
     * rate by a fifth.
     */
    burstMs: 100,
    /**
     * Minimum size of a burst (see `burstMs`), in attempts. With 1, each late timer would lose a
     * part of the rate. If doubled: five processes that share 50 attempts per second can make 70.
     */
    minBurst: 2,
    /**
     * Time after which a failed read of the events topic's partition count is repeated. A process
     * needs this count to calculate its part of a limit. If doubled: deliveries under a limit may
     * wait a second longer after a broker failure.
     */
    countRetryMs: 1_000,
    /**
     * Maximum time until the limits of a waiting destination queue are checked again. The check
     * applies a changed configuration. If doubled: a raised rate takes effect up to 5 s later.
     */
    maxTimerMs: 5_000,
    /**
     * The *turn* of a delivery in a retry topic is the time when the limits should permit its
     * attempt. This constant is the maximum wait until the turn. If doubled: after a limit was
     * raised, a deferred delivery can wait 5 minutes longer.
     */
    maxTurnMs: 300_000,
    /**
     * How long a turn (see `maxTurnMs`) stays valid after it has begun. A delivery deferred again
     * in this time usually keeps its turn, and waits only 10 s. If doubled: more retry records are
     * written after a limit was lowered.
     */
    turnValidMs: 60_000,
    /**
     * Minimum rate of a limit, in attempts per second, at which deliveries get turns (see
     * `maxTurnMs`). At a lower rate, each further deferral of a delivery lasts longer. If doubled:
     * deliveries with rates from 0.05 to 0.1 get no turns.
     */
    minPerSecond: 0.05,
    /**
     * A process that has no part of a limit defers a delivery, so that another process may read it.
     * The deferral lasts for this fraction of the delivery's wait so far. If doubled: deliveries
     * can wait over twice as long until a process with a part of the limit reads them.
     */
    waitedPart: 1 / 4,
    /**
     * For a retry, the wait that `waitedPart` determines is at most this fraction of the remaining
     * retry window. After each wait, a process with a part of the limit may read the retry. If
     * doubled: a retry has half as many of these chances before its window ends.
     */
    windowPart: 1 / 32,
  },
  /** After a 429, the *pace* limits the attempts per second to a destination. */
  slowDown: {
    /**
     * Time constant of the moving mean of delivered attempts per second. If doubled: the pace
     * follows the endpoint's limit later.
     */
    meanOverMs: 1_000,
    /**
     * At a low pace, the moving mean (see `meanOverMs`) covers this number of attempts. If doubled:
     * a low pace follows the endpoint's limit later.
     */
    meanOverAttempts: 10,
    /**
     * Minimum and maximum factor by which a 429 lowers the pace. Within these bounds, the new pace
     * is the mean of delivered attempts per second. If doubled: with `minFactor` 1, each 429 lowers
     * the pace by only 5 %.
     */
    minFactor: 0.5,
    maxFactor: 0.95,
    /**
     * Minimum time between two decreases of the pace. Further 429 within a second say nothing about
     * the next second. If doubled: the pace takes twice as long to follow an endpoint's lowered
     * limit.
     */
    lowerEveryMs: 1_000,
    /**
     * How long a destination gets no attempts after a 429. Each further 429 doubles the pause up to
     * `max`; a delivered attempt resets it. If doubled: more of the endpoint's limit stays unused.
     */
    backOffMs: { first: 100, max: 1_000 },
    /**
     * How long the pace stays constant after a 429 has lowered it. Only time in which deliveries
     * wait because of the pace counts. If doubled: half as many 429 arrive, but raised limits are
     * found 20 s later.
     */
    holdMs: 20_000,
    /**
     * Growth of the pace per second after `holdMs`, as a part of the pace. If doubled: the pace
     * exceeds the limit by twice as much before the next 429.
     */
    growthPerSecond: 0.15,
    /**
     * The growth rises from 0 to `growthPerSecond` within this time. If doubled: the pace takes
     * longer to reach an endpoint's raised limit.
     */
    growthRampMs: 7_000,
    /**
     * Maximum growth at one delivered attempt, as a part of the pace. It has an effect only at a
     * low pace. If doubled: one delivered attempt can raise the pace by half.
     */
    growthPerAttempt: 0.25,
    /**
     * The *accepted pace* is the last pace without a 429 for `holdMs`. If a 429 arrives at a pace
     * below this multiple of the accepted pace, the endpoint's limit is probably still near the
     * accepted pace. So the lowered pace also moves halfway down to the accepted pace. If doubled:
     * a limit that an endpoint raises to twice its value is found later.
     */
    nearFactor: 1.5,
    /**
     * Minimum pace, in attempts per second. If doubled: an endpoint that refuses everything gets an
     * attempt from each process every 5 s, not every 10 s.
     */
    minPerSecond: 0.1,
    /**
     * Minimum pace at the first 429, in attempts per second. If doubled: an endpoint gets at least
     * two attempts per second after its first 429.
     */
    minFirstPerSecond: 1,
    /**
     * Maximum time for which a Retry-After pauses a destination. If doubled: an endpoint with a
     * wrong header gets no attempts for ten minutes.
     */
    maxPauseMs: 5 * 60_000,
    /**
     * Time after the last 429 until the pace of a destination ends. The time must exceed
     * `maxPauseMs`: the pace must still apply after a pause. If doubled: a slowed destination stays
     * in the metrics for 20 minutes.
     */
    forgetAfterMs: 10 * 60_000,
  },
  /** *Spillover* moves queued deliveries of a slow destination from memory to a retry topic. */
  spillover: {
    /**
     * For spillover, a destination is slow if its oldest delivery has waited this long. If doubled:
     * a partition paused by a slow destination resumes one second later.
     */
    slowAfterMs: 1_000,
    /**
     * Replaces `slowAfterMs` while the process lacks CPU, or a quick destination waits for permits.
     * A long wait then comes from the process, not from the destination. If doubled: a partition
     * can stay paused for 10 s longer.
     */
    slowAfterMsWhenSaturated: 10_000,
    /**
     * Time between two checks of a partition that is paused at its limits. A check decides whether
     * the partition resumes or needs spillover. If doubled: a stall is noticed 20 ms later, and
     * spillover starts 250 ms later.
     */
    checkEvery: { normal: durationMs(20), stalled: durationMs(250) },
    /**
     * Part of a partition's records that spillover moves if all have the same destination. The
     * records that stay use the free permits until the moved records return. If doubled: too few
     * records stay in memory for the free permits.
     */
    ownPart: 1 / 4,
    /**
     * A destination that waits for a permit and holds less than this part of the permits in use is
     * held up by other destinations, so `slowAfterMsWhenSaturated` may apply to it. A destination
     * that holds more is held up by its own attempts. If doubled: spillover for a quick destination
     * with a long backlog begins 9 s later.
     */
    heldUpBelow: 1 / 2,
  },
  cpuSaturation: {
    /**
     * Time between two samples of the event loop. If doubled: spillover notices CPU saturation
     * later.
     */
    sampleEveryMs: 250,
    /**
     * A sample with at least this part of busy time shows CPU saturation. If doubled: only a late
     * sample (`lateMs`) shows CPU saturation.
     */
    saturatedShare: 0.98,
    /**
     * A sample this long after the previous one is late, and shows CPU saturation. If doubled:
     * longer blocks of the event loop stay unnoticed.
     */
    lateMs: 500,
  },
  /** A *deferred* delivery was moved to a retry topic without an attempt. */
  deferral: {
    /**
     * Maximum time for which a delivery waits in memory until its `notBefore`. A delivery with a
     * longer wait is deferred to a retry topic. If doubled: waiting deliveries take more memory,
     * but fewer retry records are written.
     */
    maxWaitInMemory: durationMs(10_000),
    /**
     * Replaces `maxWaitInMemory` while the partition exceeds `prefetch.notDueBelow`. The value must
     * exceed 500 ms, the maximum difference between process and broker clocks. If doubled: above
     * `notDueBelow`, a partition handles half as many waiting records per second.
     */
    maxWaitWithoutRoom: durationMs(1_000),
    /**
     * How long a delivery to an unknown destination is deferred. Processes load a new configuration
     * up to one minute apart. If doubled: deliveries of removed destinations are dead-lettered
     * later.
     */
    unconfigured: durationMs(60_000),
    /**
     * Maximum deferrals of an event whose source or destination is unknown. The three deferrals
     * last 10 s, 30 s and one minute. If doubled: the event is dead-lettered 15 minutes later.
     */
    maxUnrouted: 3,
    /**
     * Maximum paused time by which `lifecycle.pauseKeepsWindow` extends the retry window. If
     * doubled: suppressions of deleted users are kept two days longer (`maxDeliveryAge`).
     */
    maxPausedTime: durationMs(48 * 3_600_000),
    /**
     * Minimum wait of a paused destination's delivery, as a part of its paused time. With longer
     * waits, a long pause writes fewer retry records. If doubled: after the pause, a delivery may
     * wait a quarter of its paused time.
     */
    pausedPart: 1 / 8,
  },
  append: {
    /**
     * How long the producer collects records for a batch, as Kafka's `linger.ms`. `patient` is for
     * retry topics, whose records wait at least 10 s anyway. If doubled: the producer sends fewer
     * requests, but senders wait longer for HTTP responses.
     */
    linger: { usual: durationMs(5), patient: durationMs(20) },
    /**
     * Wait before a failed append is repeated. Each further wait is twice as long, up to
     * `maxRetryMs`. If doubled: a broken broker gets less load, but appends recover later.
     */
    firstRetryMs: 500,
    maxRetryMs: 10_000,
  },
  drain: {
    /**
     * How long a stop waits for deliveries in progress. The time is enough for a request of 5 s and
     * its retry record. If doubled: the stop of a process may exceed its grace period.
     */
    timeout: durationMs(8_000),
    /**
     * How long a stop waits, after `timeout`, until Kafka has stored retry records. The stop writes
     * these records for deliveries that are still in memory. If doubled: the stop of a process may
     * exceed its grace period.
     */
    handOverTimeout: durationMs(2_000),
    /**
     * Time between two checks whether the stop is complete. If doubled: a stop lasts up to 20 ms
     * longer.
     */
    checkEvery: durationMs(20),
  },
}
