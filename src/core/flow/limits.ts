import { durationMs } from '../time.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/*
 * All constants of flow control: they decide which records and deliveries wait, for how long, and
 * in which order. They are not configurable. The configurable limits are applied in
 * concurrency-limiter.ts (`delivery.maxInFlight`, `perWebhook` and `perHost`) and decide.ts
 * (`schedule`). The constants for access tokens are in token-limits.ts. A record passes the groups
 * of the table from top to bottom.
 *
 * | group          | decides                                  | used mainly in                       |
 * | -------------- | ---------------------------------------- | ------------------------------------ |
 * | fetch          | how long a fetch waits, and its bytes    | deliver-batch.ts                     |
 * |                |                                          | compose-dispatcher.ts                |
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
     * The value that replaces `maxWait` for the events topic while a partition is paused or
     * revoked, or while the group rebalances. It is short because a partition that resumes during a
     * fetch must wait for the next fetch. Doubling it lets this partition wait up to 100 ms longer.
     */
    maxWaitWhilePaused: durationMs(100),
    /**
     * Maximum bytes of one fetch by a member of a consumer group, except from the retry topics.
     * Smaller fetches cost more CPU per delivery. Doubling both maximums blocks the event loop
     * longer while a fetch is decoded, and makes a partition discard more fetched bytes when it is
     * paused.
     */
    usual: { perPartition: 1_024 * kibibyte, total: 8_192 * kibibyte },
    /**
     * Maximum bytes of one fetch from the retry topics: about 200 records of each partition.
     * Doubling both maximums lets new events wait longer while the process handles the records of
     * one fetch.
     */
    retries: { perPartition: 256 * kibibyte, total: 1_024 * kibibyte },
  },
  prefetch: {
    /**
     * Number of records in progress for each concurrent request that `delivery.maxInFlight` allows:
     * one record is being sent, and one is ready. Doubling it takes more memory without more
     * throughput.
     */
    recordsPerCall: 2,
    /**
     * Limits for all partitions of a process together. They bound the memory of the process: a
     * record takes about 3 KB in addition to its bytes. The limit of records is `recordsPerCall`
     * for each concurrent request. It is at least `minRecordsNormal`. While the process is stalled
     * (see `stallThresholdMs`), it is at least `minRecordsStalled`. `dueSoon` limits the records
     * that are not decoded yet. Doubling the limits takes twice the memory and causes less
     * spillover (moving deliveries from memory to retry topics).
     */
    inProcess: { minRecordsNormal: 600, minRecordsStalled: 2_000, bytes: 32 * mebibyte, dueSoon: 10_000 },
    /**
     * Maximum limits of one partition. `span` limits the offsets that are read again after a crash.
     * Doubling `span` would exceed the 24,000 offsets that the bitmap in the metadata of an offset
     * commit covers.
     */
    maxInPartition: { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 },
    /**
     * Maximum deliveries in memory of a partition, for each record that its limit of records
     * permits. With at most 32 destinations for each record, this limit has no effect. A delivery
     * takes about 0.5 KB. So with 1,000 destinations, the deliveries of a process take about as
     * much memory as its records. Doubling the value lets the deliveries take twice the memory.
     */
    deliveriesPerRecord: 32,
    /**
     * Minimum limits of one partition: `records` while the process is stalled, otherwise
     * `recordsNormal`. They have an effect only in processes with very many partitions. Doubling
     * them lets a process with 2,000 partitions take twice the memory.
     */
    minInPartition: { recordsNormal: 25, records: 50, bytes: mebibyte / 2, dueSoon: 10 },
    /**
     * A partition that was paused at its limits resumes when its records, deliveries, bytes and
     * span have all fallen to this part of their limits. Doubling it (to 1) makes a partition pause
     * and resume with each record.
     */
    resumeBelow: 0.5,
    /**
     * Records of a partition that are not due may wait in memory while the partition's records,
     * deliveries, bytes and span are all at most this part of their limits. The value is below
     * `resumeBelow`, because a paused partition must be able to resume while these records wait.
     * With a doubled value (0.5), these records alone could reach `resumeBelow`. A paused partition
     * would then resume only when all its other records are done.
     */
    notDueBelow: 0.25,
    /**
     * Milliseconds for which the oldest record may be in progress before the process counts as
     * stalled. Until then, further records wait undecoded, because decoded records would outlive
     * V8's young generation and cost a fifth more CPU (docs/decisions/0043-hot-path-rules.md).
     * Doubling it lets the deliveries behind a slow destination wait 200 ms longer.
     */
    stallThresholdMs: 200,
  },
  notDue: {
    /**
     * If the next fetched record of a partition of a retry topic is due within this time, in
     * milliseconds, the fetched records of the partition stay in memory. Otherwise they are
     * discarded, and fetched again later. Doubling it takes more memory and saves repeated fetches.
     */
    dueSoonMs: 1_000,
    /**
     * Maximum duration, in milliseconds, of the timer that waits for the next retry record to
     * become due. When the timer ends before the record is due, the process reads the clock and
     * starts another timer: timers do not count the time for which the machine was suspended.
     * Doubling it makes a retry up to 60 s late after a suspension.
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
     * Milliseconds for which a process repeats the look-up of a new schema id that the registry
     * does not have. The partition waits for this time. A new schema can be missing for a short
     * time, because a follower of the registry gets it later. Doubling the value lets a record
     * with an unknown id stop a partition for 20 s.
     */
    newSchemaWait: durationMs(10_000),
    /**
     * Minimum milliseconds between the beginnings of two waits for new schema ids
     * (`newSchemaWait`). So invented ids can pause a partition for only 10 s per minute. Between
     * two waits, records with a new schema that the registry does not have yet are dead-lettered.
     * Doubling the value halves the time of the pauses, but dead-letters more of these records.
     */
    newSchemaWaitEvery: durationMs(60_000),
    /**
     * Milliseconds between two checks of the suppression list (the deletions of users) while a
     * record waits for the list. Two kinds of records wait:
     * - A delete message waits until the list has the deletion that created the message. If the
     *   list is recent enough and does not have this deletion, the message is forged, and the wait
     *   ends too. The user's next events wait behind the message.
     * - An audience input that deletes a user waits until the list has the deletion of the user.
     *   The next inputs of the partition wait behind this input.
     *
     * Doubling the value lets these records wait up to 100 ms longer.
     */
    deletionCheckEvery: durationMs(100),
    /**
     * Maximum age, in milliseconds, of an audience input that waits until its audience is in the
     * configuration of the process. The process ignores an older input. Processes load a new
     * configuration up to one minute apart. Doubling it lets the partition wait two minutes longer
     * after an audience was removed.
     */
    unknownAudience: durationMs(120_000),
    /**
     * Milliseconds between two checks whether a waiting audience input may continue because its
     * audience is now in the configuration. Doubling it lets the partition resume up to one second
     * later.
     */
    audienceCheckEvery: durationMs(1_000),
  },
  dispatch: {
    /**
     * Maximum number of deliveries that are deferred, dropped or requeued in one tick of the event
     * loop. These deliveries take a few ms. While a circuit breaker is open, doubling it lets HTTP
     * responses wait twice as long for the event loop.
     */
    maxPerTick: 64,
    /**
     * Maximum number of notifications that the dispatch loop gets in one call. Each ended request
     * and each ended delivery is one notification, so a delivery to one webhook has two. Doubling
     * it lets more objects outlive V8's young generation, which costs CPU.
     */
    maxCoalesced: 128,
    /**
     * When requests or deliveries end, destination queues that wait for a permit may try to start
     * an attempt: one queue for each ended request or delivery, and this number of further queues.
     * Doubling it lets these queues try sooner, but takes more CPU with 1,000 destinations.
     */
    minAsked: 16,
  },
  concurrency: {
    /**
     * Maximum requests in progress of one destination, as a part of the free permits of the
     * process. With k destinations that do not respond, 4/(k+4) of all permits stay free for other
     * destinations: 70 of 512 for 25 destinations. With a doubled value, 2/(k+2) stay free, which
     * is 37 of 512.
     */
    perFreePermit: 1 / 4,
    /**
     * The value that replaces `perFreePermit` while no other destination has requests in progress:
     * the destination may hold seven times as many permits as are free, which is seven eighths of
     * all permits. Doubling it lets the destination use 14 of 15 permits, so the next destination
     * may have to wait for a permit.
     */
    perFreePermitWhenAlone: 7,
    /**
     * A destination whose mean request time is at most this time, in milliseconds, is never slow,
     * and an attempt of at most this time is quick (`AttemptSample`). Slow destinations leave the
     * last free permit of a limit to quick destinations (`FairShare`). Doubling this time lets
     * slower destinations take the last permit, and keeps their deliveries in memory longer while
     * others hold the permits.
     */
    neverSlowMs: 100,
    /**
     * A destination is quick if its mean request time is at most this part of the typical request
     * time (`CallTimes.typicalMs`); otherwise it is slow, unless `neverSlowMs` applies. Doubling it
     * makes more destinations quick. Quick destinations may take the last free permit of a limit.
     */
    quickPart: 1 / 8,
    /**
     * Length of one window in which request times are measured, in milliseconds. Only the current
     * and the previous window are used for the typical request time. Doubling it lets the typical
     * time follow a change later.
     */
    callTimeWindowMs: 60_000,
    /**
     * Weight of the last request in a destination's mean request time. Doubling it makes a
     * destination count as slow after fewer slow requests.
     */
    lastCallWeight: 1 / 4,
    /**
     * With `policy.maxConcurrency`, an attempt leaves out a webhook that is at its limit and does
     * not respond. The webhook counts as unresponsive if its last requests got no response: at
     * least this number of requests, and at least as many as are now in progress. Doubling the
     * value lets a webhook that has one permit and never responds stop its destination for 15 s
     * longer.
     */
    minUnanswered: 3,
  },
  connecting: {
    /**
     * Maximum requests of a process that open a connection at the same time. At 2 ms for a TLS
     * handshake, 384 take 0.8 s of CPU time. Doubling the value doubles the time that each of them
     * may take after a restart. With 256, an endpoint that closes each connection cost a fifth more
     * CPU time than with 384.
     */
    max: 384,
    /**
     * How long a request counts for `max`, in milliseconds, at most: an endpoint that does not
     * respond must not delay requests to others. Doubling it lets three dead hosts, each with the
     * 128 requests of `delivery.perHost`, delay new connections to other hosts for a second.
     */
    countedMs: durationMs(500),
    /**
     * The value that replaces `countedMs` while the process lacks CPU, because the process itself may
     * then be the reason why requests are not connected yet. Doubling it lets three dead hosts
     * delay new connections to other hosts for 4 s.
     */
    countedMsWhenSaturated: durationMs(2_000),
  },
  circuitBreaker: {
    /**
     * Length of one step in milliseconds, and number of steps in the window of one minute in which
     * a circuit breaker counts attempts. Doubling either makes the circuit breaker open later, and
     * lets older failures open it.
     */
    stepMs: 5_000,
    steps: 12,
    /**
     * Minimum number of attempts at a destination in one minute before its circuit breaker can
     * open. Doubling it lets a destination with few events call a dead endpoint for longer.
     */
    minDeliveries: 10,
    /**
     * Part of the attempts of one minute that must have failed to open the circuit breaker.
     * Doubling it (to 1.4) would keep the circuit breaker closed forever.
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
     * Milliseconds from the assignment of a partition until the partition adds to the rate of its
     * new owner. The previous owner may get the result of the same rebalance a little later, and
     * uses the rate until then. Doubling it leaves the rate of moved partitions unused for another
     * 250 ms.
     */
    handoverMs: 250,
    /**
     * Maximum size of a burst after a late timer or while the process is busy, as a time in
     * milliseconds: a burst has at most the attempts that the rate allows in this time. At 50
     * attempts per second, these are 5. Doubling it permits bursts that exceed the rate of one
     * second by a fifth.
     */
    burstMs: 100,
    /**
     * Minimum size of a burst, in attempts. With 1, each late timer would lose a part of the rate.
     * Five processes that share a rate of 50 make at most 60 attempts in a second, even if all
     * their bursts are in the same second. Doubling it lets them make 70.
     */
    minBurst: 2,
    /**
     * To calculate its part of each limit, a process reads the number of partitions of the events
     * topic from Kafka. A failed read is repeated after this many milliseconds. With a doubled
     * value, destinations with limits may wait a second longer after a broker failure.
     */
    countRetryMs: 1_000,
    /**
     * Maximum milliseconds until the limits of a waiting destination queue are checked again, so
     * that a changed configuration takes effect. Doubling it lets a raised rate take effect 5 s
     * later.
     */
    maxTimerMs: 5_000,
    /**
     * If a delivery is deferred to a retry topic, its *turn* is the time at which the limits of the
     * destination are expected to let the delivery start. The maximum time from now to the turn is
     * this value, in milliseconds. If the delivery cannot start then, it is deferred again, with
     * one more retry record. Doubling the value halves these records of a long backlog, but waiting
     * deliveries use a raised limit up to 5 minutes later.
     */
    maxTurnMs: 300_000,
    /**
     * Milliseconds for which a turn (see `maxTurnMs`) stays valid after it has begun. A delivery
     * may have to leave memory again in this time, for example because the limit was lowered. It
     * then keeps its turn, and waits only in the shortest tier. But if the turns of other
     * deliveries already fill the next `turnValidMs`, it gets a new turn after theirs. Doubling the
     * value writes more retry records after a limit was lowered.
     */
    turnValidMs: 60_000,
    /**
     * Minimum rate of a limit, in attempts per second, for which turns (see `maxTurnMs`) are
     * calculated. At a lower rate, a delivery gets no turn: each further deferral uses a retry
     * topic with a longer wait. With a doubled value, this also applies to rates from 0.05 to 0.1.
     */
    minPerSecond: 0.05,
    /**
     * If this process has no part of the limit of a destination, a delivery to the destination
     * waits in a retry topic. Afterwards, a process with a part may read it. The length of the wait
     * is `duePart` of the time since the delivery first had to wait for this reason. The minimum is
     * 10 s, the maximum `maxTurnMs`. Doubling `duePart` halves the retry records that a delivery
     * needs until its waits have the maximum length. But if only one of 12 processes has a part,
     * deliveries then wait for 19 minutes on average, instead of 8.
     */
    duePart: 1 / 4,
    /**
     * Maximum of the wait that `duePart` determines for a retry, as a part of the rest of the retry
     * window. The minimum of 10 s, the wait of the shortest retry topic, still applies. After each
     * wait, a process with a part of the limit may read the retry. Doubling the value halves the
     * number of these chances before the retry window ends.
     */
    windowPart: 1 / 32,
  },
  slowDown: {
    /**
     * Time constant, in milliseconds, of the moving mean of delivered attempts per second. At a low
     * pace, the time constant is longer: the time that `meanOverAttempts` attempts take at this
     * pace. Doubling both lets the pace follow the endpoint later.
     */
    meanOverMs: 1_000,
    meanOverAttempts: 10,
    /**
     * Minimum and maximum factor by which a 429 lowers the pace. Between these bounds, the pace
     * falls to the mean of delivered attempts. Doubling `minFactor` gives 1, which is more than
     * `maxFactor`. Each decrease would then be 5 %, however few attempts the endpoint accepts.
     */
    minFactor: 0.5,
    maxFactor: 0.95,
    /**
     * Minimum milliseconds between two decreases of the pace. When the requests of a second exceed
     * the limit of an endpoint, every further request of this second gets a 429. These further
     * 429 say nothing about the next second, so they must not lower the pace again. Doubling the
     * value doubles the time until the pace has followed a lowered limit.
     */
    lowerEveryMs: 1_000,
    /**
     * Milliseconds for which a destination gets no attempts after a 429. Each further 429 doubles
     * them, up to `max`. A delivered attempt resets them to `first`. Doubling `first` leaves more
     * of the endpoint's limit unused.
     */
    backOffMs: { first: 100, max: 1_000 },
    /**
     * Milliseconds for which the pace stays constant after a 429 has lowered it. Only time in which
     * deliveries wait because of the pace counts. Doubling it halves the number of 429 in the long
     * run, but a raised limit of the endpoint is found 20 s later.
     */
    holdMs: 20_000,
    /**
     * `growthPerSecond` is the growth of the pace per second after `holdMs`, as a part of the pace:
     * 0.15 is 15 %. The growth rises from 0 to this value within `growthRampMs`. Doubling
     * `growthPerSecond` lets the pace exceed the limit by twice as much before the next 429.
     * `growthPerAttempt` is the maximum growth at one delivered attempt, also as a part of the
     * pace. It matters only at a low pace.
     */
    growthPerSecond: 0.15,
    growthRampMs: 7_000,
    growthPerAttempt: 0.25,
    /**
     * The *accepted pace* is the last pace that had no 429 for `holdMs`. If a 429 arrives at a pace
     * below `nearFactor` times the accepted pace, the limit of the endpoint is probably not much
     * higher than the accepted pace. So if the usual lowered pace (see `minFactor`) is above the
     * accepted pace, the new pace is the middle between these two. With a doubled factor, this also
     * applies to an endpoint that has doubled its limit, so the pace takes longer to reach the new
     * limit.
     */
    nearFactor: 1.5,
    /**
     * `minPerSecond` is the minimum pace, in attempts per second. `minFirstPerSecond` is the
     * minimum pace at the first 429. Doubling `minPerSecond` lets an endpoint that refuses
     * everything get one attempt in 5 s from each process.
     */
    minPerSecond: 0.1,
    minFirstPerSecond: 1,
    /**
     * Maximum milliseconds for which a Retry-After pauses a destination. Doubling it lets an
     * endpoint with a wrong header get nothing for ten minutes.
     */
    maxPauseMs: 5 * 60_000,
    /**
     * Milliseconds after the last 429 until the pace of a destination ends. It must exceed
     * `maxPauseMs`, so that the pace still applies when a pause after a 429 ends. Doubling it keeps
     * the destination in the metrics for 20 minutes.
     */
    forgetAfterMs: 10 * 60_000,
  },
  spillover: {
    /**
     * Milliseconds after which the oldest delivery in the queue of a destination shows that the
     * destination is slow: its queued deliveries may then be moved to a retry topic. Doubling it
     * lets other destinations wait one second longer.
     */
    slowAfterMs: 1_000,
    /**
     * The value that replaces `slowAfterMs` while the process lacks CPU, and for a destination that
     * waits for a permit of the process although its attempts are quick (`neverSlowMs`). In both
     * cases, the queue waits for the process, so a long wait does not show that the destination is
     * slow. Doubling it lets other destinations wait 10 s longer.
     */
    slowAfterMsWhenSaturated: 10_000,
    /**
     * Milliseconds between two checks whether a partition that is paused at its limits needs
     * spillover or can resume. `stalled` applies while the process is stalled, otherwise `normal`.
     * Doubling them lets the process notice a stall 20 ms later, and spill 250 ms later.
     */
    checkEvery: { normal: durationMs(20), stalled: durationMs(250) },
    /**
     * The part of a partition's records that spillover may move to a retry topic while the
     * partition has only records for one slow destination, and other destinations are configured.
     * The moved records return after 10 s. Until then, the other records stay in memory and use the
     * free permits. Doubling the value leaves permits unused. Halving it lets records for other
     * destinations, further back in the partition, wait twice as long.
     */
    ownPart: 1 / 4,
    /**
     * A destination that waits for a permit of the process can be held up by other destinations
     * only if it holds less than this part of the permits in use. With a larger part, the
     * destination waits because of the permits that it holds itself. With a doubled value (1), a
     * quick destination with a long backlog spills 9 s later.
     */
    heldUpBelow: 1 / 2,
  },
  cpuSaturation: {
    /**
     * Milliseconds between two samples of the event loop. Doubling it lets spillover notice CPU
     * saturation later.
     */
    sampleEveryMs: 250,
    /**
     * A sample shows CPU saturation if the event loop was busy for at least this part of the time
     * since the previous sample, and so idle for at most a fiftieth. With a doubled value, only a
     * late sample (`lateMs`) would show saturation.
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
     * with a longer wait is deferred. Doubling it takes more memory and writes fewer retry records.
     */
    maxWaitInMemory: durationMs(10_000),
    /**
     * The value that replaces `maxWaitInMemory` while the partition of the record has no room for
     * records that are not due (`prefetch.notDueBelow`). The clocks of processes and brokers may
     * differ by 500 ms, so a record of a retry topic can be released up to 500 ms before it is due.
     * The value must exceed this time, so that the record waits in memory and is not deferred
     * again. Doubling it lets records wait twice as long in a partition without room, so the
     * partition handles half as many of these records per second.
     */
    maxWaitWithoutRoom: durationMs(1_000),
    /**
     * Milliseconds for which a delivery to an unknown destination is deferred. The destination may
     * be new and unknown only to this process, because processes load a new configuration up to one
     * minute apart. Doubling it dead-letters the deliveries of removed destinations later.
     */
    unconfigured: durationMs(60_000),
    /**
     * Maximum number of deferrals of an event whose source or destination is unknown, before it is
     * dead-lettered. The three deferrals wait for 10 s, 30 s and one minute. Doubling it lets the
     * event be dead-lettered 15 minutes later.
     */
    maxUnrouted: 3,
    /**
     * With `lifecycle.pauseKeepsWindow`: maximum paused time, in milliseconds, that the retry
     * window of a delivery excludes. Doubling it keeps suppressions for two days longer
     * (`maxDeliveryAge`), and more deliveries circulate through retry topics during a long pause.
     */
    maxPausedTime: durationMs(48 * 3_600_000),
    /**
     * A delivery to a paused destination waits in a retry topic for at least this part of its
     * paused time so far, but at most for the wait of the longest retry topic. Doubling the part
     * halves the retry records that a long pause writes. But a delivery may then still wait for a
     * quarter of its paused time after the pause, instead of an eighth.
     */
    pausedPart: 1 / 8,
  },
  append: {
    /**
     * Milliseconds for which the producer collects the records of a batch. `patient` is for retry
     * topics, because their records wait for 10 s or longer. Doubling both values saves requests,
     * but the collector responds later.
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
     * Milliseconds for which a stop waits for deliveries in progress. This time is enough for a
     * request, which takes at most 5 s, and for the append of its retry record. Doubling it may let
     * a stop exceed its grace period.
     */
    timeout: durationMs(8_000),
    /**
     * Milliseconds for which a stop waits after `timeout`. At the end of `timeout`, the deliveries
     * that are still in memory are deferred. The stop then waits, for at most this time, until
     * Kafka has their retry records. Doubling it may let a stop exceed its grace period.
     */
    handOverTimeout: durationMs(2_000),
    /**
     * Milliseconds between two checks whether the stop is complete. Doubling it lets a stop take up
     * to 20 ms longer.
     */
    checkEvery: durationMs(20),
  },
}
