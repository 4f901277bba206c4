import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { AlertWatch } from '../../support/prometheus/alert-watch.ts'
import { alerts, nameOf } from '../../support/prometheus/rules.ts'
import { type LivePrometheus, startPrometheus } from '../../support/prometheus/server.ts'
import { fleet } from './diverging-and-restarting-processes.ts'
import { endpoints } from './endpoint-and-input-faults.ts'
import { ledger } from './ledger-faults.ts'
import { outage } from './process-kafka-and-clock-faults.ts'
import { Outcomes, playOf } from './run-faults-and-await-alerts.ts'
import { crowded } from './series-limit-and-cpu-faults.ts'
import { backlog } from './topic-configuration-and-group-faults.ts'

const first = playOf(outage)
const others = [playOf(endpoints), playOf(backlog), playOf(fleet), playOf(crowded), playOf(ledger)]
const faults = [first, ...others].flatMap(play => play.faults)
const scripted = faults.flatMap(fault => Object.keys(fault.alerts))
const outcomes = new Outcomes(scripted)

/** Time limit of a test, in ms, including the waits for earlier faults. */
const limitMs = 900_000

let prometheus: LivePrometheus
let watch: AlertWatch
let playing: Promise<unknown>

beforeAll(async () => {
  prometheus = await startPrometheus()
  watch = new AlertWatch(prometheus)
  const stage = { prometheus, watch, outcomes }
  // The other installations start later: under their load, Prometheus could miss the ten seconds in
  // which HooklineRecordsLost fires.
  const isOver = outcomes.of('HooklineRecordsLost').cleared.promise.catch(() => undefined)
  playing = Promise.all([first.run(stage), ...others.map(play => isOver.then(() => play.run(stage)))])
})

afterAll(async () => {
  await playing
  await watch?.close()
  await prometheus?.close()
}, limitMs)

it('every alert has a fault that must fire it', () => {
  expect(scripted.toSorted()).toEqual(alerts.map(nameOf).toSorted())
})

describe.each(faults)('$cause', ({ cure, alerts }) => {
  it.each(Object.keys(alerts))('%s fires', alert => outcomes.of(alert).fired.promise, limitMs)

  it.each(Object.keys(alerts))(`%s clears when ${cure}`, alert => outcomes.of(alert).cleared.promise, limitMs)
})
