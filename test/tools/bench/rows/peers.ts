import { bars, type Finding } from '../bars.ts'
import { bareLoop } from '../forwarders/bare-loop.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { type Case, drainsOf, peakOf, type Rounds, raced, rateOf, ratio } from '../race.ts'
import { full } from './delivery.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

/** Our transport that costs least is what others are compared with. */
const us = 'hookline undici'

/** Deliveries a CPU second: Hookline and other programs, in turn on the same topic; with the bare loop, so that this row can be set beside others. */
export function peersRow(bench: Bench, { cases, counts } = full): Promise<Outcome> {
  const forwarders = [hooklineForwarder('undici'), ...bench.peers, bareLoop('undici')]
  const others = forwarders.map(({ name }) => name).filter(name => name !== us)
  return raced(bench, {
    ...{ forwarders, cases, count: scaled(bench, counts.others) },
    findingsOf: (name, at, rounds) => [
      ...toldOf(name, at, rounds),
      ...(name === us ? others.map(other => comparedWith(other, at, rounds)) : []),
    ],
  })
}

function toldOf(name: string, { delayMs }: Case, rounds: Rounds): readonly Finding[] {
  const subject = `${name}, ${delayMs} ms`
  const lost = Math.max(...drainsOf(name, rounds).map(each => each.lost))
  return [
    { subject, what: 'deliveries', measured: rateOf(name, rounds), unit: '/ CPU s' },
    { subject, what: 'peak memory', measured: peakOf(name, rounds), unit: 'MB' },
    { subject, what: 'lost', measured: lost, ...(name === us && bars.lost) },
  ]
}

function comparedWith(other: string, { delayMs }: Case, rounds: Rounds): Finding {
  const bar = { benthos: bars.ofBenthos, 'benthos-tuned': bars.ofBenthosTuned }[other]
  return { subject: `${us}, ${delayMs} ms`, what: `of ${other}`, measured: ratio(us, other, rounds), ...bar }
}
