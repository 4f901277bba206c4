import { bounds, type Finding } from '../bounds.ts'
import { type Case, drainsOf, peakOf, type Rounds, raced, rateOf, ratio } from '../compare-forwarders.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { referenceLoop } from '../forwarders/reference-loop.ts'
import { variantOf } from '../variant-names.ts'
import { full } from './delivery.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

/** The other programs are compared with Hookline's cheapest transport (HTTP client). */
const us = 'hookline undici'
const reference = referenceLoop('undici')

/**
 * Compares deliveries per CPU second of Hookline, the programs in the variable PEER, and the
 * reference loop (a minimal forwarder).
 */
export function peersRow(bench: Bench, { cases, counts } = full): Promise<Outcome> {
  const forwarders = [hooklineForwarder('undici'), ...bench.peers, reference]
  const others = forwarders.map(({ name }) => name).filter(name => name !== us)
  return raced(bench, {
    ...{ forwarders, cases, count: scaled(bench, counts.others) },
    findingsOf: (name, at, rounds) => [
      ...figuresOf(name, at, rounds),
      ...(name === us ? others.map(other => comparedWith(other, at, rounds)) : []),
    ],
  })
}

function figuresOf(name: string, { delayMs }: Case, rounds: Rounds): readonly Finding[] {
  const subject = variantOf.delivery(name, delayMs)
  const lost = Math.max(...drainsOf(name, rounds).map(each => each.lost))
  return [
    { subject, what: 'deliveries', measured: rateOf(name, rounds), unit: 'per CPU second' },
    { subject, what: 'peak memory', measured: peakOf(name, rounds), unit: 'MB' },
    { subject, what: 'lost', measured: lost, ...(name === us && bounds.lost) },
  ]
}

function comparedWith(other: string, { delayMs }: Case, rounds: Rounds): Finding {
  const bar = { benthos: bounds.ofBenthos, 'benthos-tuned': bounds.ofBenthosTuned }[other]
  return {
    subject: variantOf.delivery(us, delayMs),
    what: `deliveries per CPU second, relative to ${other === reference.name ? 'the ' : ''}${other}`,
    measured: ratio(us, other, rounds),
    ...bar,
  }
}
