import { shown } from '../../../test/tools/bench/report.ts'
import { hostsText } from '../../../test/tools/bench/variant-names.ts'
import { table } from '../reference/markdown.ts'
import type { Coefficients } from './coefficients.ts'
import { cases, outageOf, outages } from './example-installations.ts'
import { type Assumptions, defaultAssumptions, type Load, type Plan, planFor } from './model.ts'

/* The Markdown tables of docs/explanation/capacity.md and of the output of `npm run capacity`. */

const three = (value: number): string => shown(Number(value.toPrecision(3)))
const percent = (share: number): string => `${three(share * 100)} %`

export function coefficientsTable(byTransport: Readonly<Record<string, Coefficients>>): string {
  const all = Object.values(byTransport)
  const line = (what: string, of: (each: Coefficients) => number): readonly string[] => [
    what,
    ...all.map(each => three(of(each))),
  ]
  const deliveries = (all[0]?.delivery ?? []).map(({ answerMs }, index) =>
    line(
      `CPU per delivery to 1 host, responses after ${answerMs} ms, µs`,
      ({ delivery }) => delivery[index]?.micros ?? Number.NaN,
    ).map((cell, column) => (all[column - 1]?.delivery[index]?.isDerived ? `${cell}, calculated` : cell)),
  )
  const counts = [...new Set(all.flatMap(({ hosts }) => hosts.map(each => each.hosts)))].filter(count => count > 1)
  const forHosts = (what: string, of: (cost: Coefficients['hosts'][number]) => number): readonly string[][] =>
    counts.map(count => {
      const costs = all.map(({ hosts }) => hosts.find(each => each.hosts === count))
      return [what.replace('{hosts}', hostsText(count)), ...costs.map(cost => (cost ? three(of(cost)) : '–'))]
    })
  return table(
    ['', ...Object.keys(byTransport)],
    [
      ...deliveries,
      ...forHosts('additional CPU per delivery to {hosts}, µs', ({ micros }) => micros),
      ...forHosts('additional memory of a dispatcher for {hosts}, MB', ({ mb }) => mb),
      line('CPU to schedule a retry and read it again, µs', ({ retryWriteMicros }) => retryWriteMicros),
      line('memory of a dispatcher without requests, MB', ({ memory }) => memory.base),
      line('memory per request that `delivery.maxInFlight` permits, kB', ({ memory }) => memory.eachCall * 1_000),
      line('size of the record of an event, bytes', ({ eventBytes }) => eventBytes),
      line('size of a retry record of this event, bytes', ({ retryRecordBytes }) => retryRecordBytes),
      line('CPU of a collector per message, with twenty messages in a request, µs', ({ collect }) => collect),
      line('memory of a collector under load, MB', ({ collectorMb }) => collectorMb),
      line('memory for a member of an audience, bytes', ({ memberBytes }) => memberBytes),
      line('CPU to restore a member, µs', ({ restore }) => restore),
    ],
  )
}

export const assumptionsTable = (choices: Assumptions): string =>
  table(
    ['assumption', 'value'],
    [
      ['average CPU use of a process', percent(choices.utilisation)],
      ['replicas of each partition', String(choices.replicas)],
      ['retention of the events topic, days', String(choices.retentionDays)],
      ['`delivery.maxInFlight`', `${choices.inFlight.map(shown).join(', or ')} if fewer dispatchers are then enough`],
      ['throughput of one broker, replication included, MB a second', String(choices.brokerMb)],
      ['memory for members in one audiences process, MB', shown(choices.audiencesMb)],
      ['`delivery.window`, hours', String(choices.windowHours)],
    ],
  )

/** A table with a column for each plan. */
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
      line('response time of endpoints, ms', (_, load) => shown(load.answerMs)),
      line('hosts of the endpoints', (_, load) => shown(load.hosts)),
      line('requests in progress', plan => three(plan.calls)),
      line('**dispatchers**', ({ dispatchers }) => `**${shown(dispatchers.processes)}**`),
      line('CPU cores in use by all dispatchers', ({ dispatchers }) => three(dispatchers.cores)),
      line('`delivery.maxInFlight` of each dispatcher', ({ dispatchers }) => shown(dispatchers.inFlight)),
      line('memory of each dispatcher, MB', ({ dispatchers }) => three(dispatchers.mb)),
      line('memory limit of each dispatcher, minimum, MB', ({ dispatchers }) => three(dispatchers.limitMb)),
      line('**collectors**', ({ collectors }) => `**${shown(collectors.processes)}**`),
      line('CPU cores in use by all collectors', ({ collectors }) => three(collectors.cores)),
      line('**audiences processes**', ({ audiences }) => `**${shown(audiences.processes)}**`),
      line('members', (_, load) => three(load.members)),
      line('memory for members in each audiences process, MB', ({ audiences }) => three(audiences.mb)),
      line('time to restore the members, seconds', ({ audiences }) => three(audiences.restoreSeconds)),
      line('**partitions**, minimum', plan => `**${shown(plan.partitions)}**`),
      line('**brokers**', ({ brokers }) => `**${shown(brokers.count)}**`),
      line('written to the brokers, MB a second', ({ brokers }) => three(brokers.inMb)),
      line('stored by the brokers, TB', ({ brokers }) => three(brokers.diskTb)),
      line(
        'outage: share of deliveries that go to failing endpoints, duration',
        (_, { outage }) => `${percent(outage.share)}, ${three(outage.hours)} h`,
      ),
      line('waiting records at the end of the outage', ({ outage }) => three(outage.waiting)),
      line('retry records written per delivery to a failing endpoint', ({ outage }) => three(outage.amplification)),
      line('additional cores of the dispatchers during the outage, maximum', ({ outage }) => three(outage.cores)),
      line('additionally written to the brokers during the outage, maximum, MB a second', ({ outage }) =>
        three(outage.inMb),
      ),
    ],
  )
}

export const casesTable = (coefficients: Coefficients): string =>
  plansTable(cases.map(({ title, ...load }) => ({ title, load, plan: planFor(load, coefficients) })))

export function outagesTable(coefficients: Coefficients): string {
  const lines = outages.map(outage => {
    const load = { eventsPerSecond: outageOf, destinations: 1, answerMs: 100, hosts: 1_000, members: 0, outage }
    const course = planFor(load, coefficients).outage
    return [
      percent(outage.share),
      three(outage.hours),
      three(course.waiting),
      three(course.amplification),
      three(course.maxRetryRecordsPerSecond),
      three(course.cores),
      three(course.inMb),
      three(course.maxReleasedPerSecond),
      three(course.lastAfterMinutes),
      three(course.deadLettered),
    ]
  })
  return table(
    [
      ...[
        'share of deliveries that go to failing endpoints',
        'hours',
        'waiting records at the end of the outage',
        'retry records per delivery',
        'retry records a second, maximum',
      ],
      ...[
        'additional cores',
        'additional MB a second',
        'released deliveries a second, maximum',
        'minutes until the last delivery is released',
        'dead letters',
      ],
    ],
    lines,
  )
}

export const defaultAssumptionsTable = (): string => assumptionsTable(defaultAssumptions)
