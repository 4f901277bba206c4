import { shown } from '../../../test/tools/bench/report.ts'
import { table } from '../reference/markdown.ts'
import { cases, outageOf, outages } from './cases.ts'
import type { Coefficients } from './coefficients.ts'
import { type Choices, type Load, type Plan, planFor, usualChoices } from './model.ts'

/* What the page and the command show, in Markdown that reads well on a terminal too. */

const three = (value: number): string => shown(Number(value.toPrecision(3)))
const percent = (share: number): string => `${three(share * 100)} %`

export function coefficientsTable(byTransport: Readonly<Record<string, Coefficients>>): string {
  const all = Object.values(byTransport)
  const line = (what: string, of: (each: Coefficients) => number): readonly string[] => [
    what,
    ...all.map(each => three(of(each))),
  ]
  const deliveries = (all[0]?.delivery ?? []).map(({ answerMs }, index) =>
    line(`CPU a delivery, answers after ${answerMs} ms, µs`, ({ delivery }) => delivery[index]?.micros ?? Number.NaN),
  )
  return table(
    ['', ...Object.keys(byTransport)],
    [
      ...deliveries,
      line('CPU to park a failed delivery and take it up again, µs', ({ park }) => park),
      line('a dispatcher without calls, MB', ({ memory }) => memory.base),
      line('each call that it may have under way, kB', ({ memory }) => memory.eachCall * 1_000),
      line('record of an event, bytes', ({ eventBytes }) => eventBytes),
      line('the same in a retry topic, bytes', ({ parkedBytes }) => parkedBytes),
      line('CPU of the collector a message, twenty to a request, µs', ({ collect }) => collect),
      line('a collector under load, MB', ({ collectorMb }) => collectorMb),
      line('a member of an audience, bytes in memory', ({ memberBytes }) => memberBytes),
      line('CPU to restore a member, µs', ({ restore }) => restore),
    ],
  )
}

export const choicesTable = (choices: Choices): string =>
  table(
    ['chosen', ''],
    [
      ['CPU that a process takes on the long run', percent(choices.utilisation)],
      ['replicas of each partition', String(choices.replicas)],
      ['days that the events topic keeps', String(choices.retentionDays)],
      ['`delivery.maxInFlight`, the smallest that will do', choices.inFlight.map(shown).join(' or ')],
      ['MB a second that one broker takes in, replication included', String(choices.brokerMb)],
      ['MB of members in one process of audiences', shown(choices.audiencesMb)],
      ['`delivery.window`, hours', String(choices.windowHours)],
    ],
  )

/** A column for each plan. */
export function plansTable(
  plans: readonly { readonly title: string; readonly load: Load; readonly plan: Plan }[],
): string {
  const line = (what: string, of: (plan: Plan, load: Load) => string): readonly string[] => [
    what,
    ...plans.map(({ plan, load }) => of(plan, load)),
  ]
  return table(
    ['', ...plans.map(({ title }) => title)],
    [
      line('events a second', (_, load) => shown(load.eventsPerSecond)),
      line('deliveries a second', plan => shown(plan.deliveriesPerSecond)),
      line('endpoints answer after, ms', (_, load) => shown(load.answerMs)),
      line('calls under way', plan => three(plan.calls)),
      line('**dispatchers**', ({ dispatchers }) => `**${shown(dispatchers.processes)}**`),
      line('their cores, on average', ({ dispatchers }) => three(dispatchers.cores)),
      line('`maxInFlight` of each', ({ dispatchers }) => shown(dispatchers.inFlight)),
      line('MB of each', ({ dispatchers }) => three(dispatchers.mb)),
      line('**collectors**', ({ collectors }) => `**${shown(collectors.processes)}**`),
      line('their cores, on average', ({ collectors }) => three(collectors.cores)),
      line('**processes of audiences**', ({ audiences }) => `**${shown(audiences.processes)}**`),
      line('members', (_, load) => three(load.members)),
      line('MB of members of each', ({ audiences }) => three(audiences.mb)),
      line('seconds to restore them', ({ audiences }) => three(audiences.restoreSeconds)),
      line('**partitions**, at least', plan => `**${shown(plan.partitions)}**`),
      line('**brokers**', ({ brokers }) => `**${shown(brokers.count)}**`),
      line('MB a second written to them', ({ brokers }) => three(brokers.inMb)),
      line('TB that they keep', ({ brokers }) => three(brokers.diskTb)),
      line('an outage of', (_, { outage }) => `${percent(outage.share)}, ${three(outage.hours)} h`),
      line('waiting in the end', ({ outage }) => three(outage.waiting)),
      line('records written for each that failed', ({ outage }) => three(outage.amplification)),
      line('cores for it, at most', ({ outage }) => three(outage.cores)),
      line('MB a second written for it, at most', ({ outage }) => three(outage.inMb)),
    ],
  )
}

export const casesTable = (coefficients: Coefficients): string =>
  plansTable(cases.map(({ title, ...load }) => ({ title, load, plan: planFor(load, coefficients) })))

export function outagesTable(coefficients: Coefficients): string {
  const lines = outages.map(outage => {
    const load = { eventsPerSecond: outageOf, destinations: 1, answerMs: 100, members: 0, outage }
    const course = planFor(load, coefficients).outage
    return [
      percent(outage.share),
      three(outage.hours),
      three(course.waiting),
      three(course.amplification),
      three(course.mostParkedPerSecond),
      three(course.cores),
      three(course.inMb),
      three(course.mostReleasedPerSecond),
      three(course.lastAfterMinutes),
      three(course.deadLettered),
    ]
  })
  return table(
    [
      ...[
        'of the destinations',
        'hours',
        'waiting in the end',
        'written for each that failed',
        'written a second, at most',
      ],
      ...['cores', 'MB a second', 'released a second, at most', 'the last after minutes', 'dead letters'],
    ],
    lines,
  )
}

export const usualChoicesTable = (): string => choicesTable(usualChoices)
