import { describe, expect, it } from '@jest/globals'
import { asEnvironment, filledIn, parsePeer } from '../forwarders/peer.ts'

describe("a peer's command", () => {
  const values = {
    brokers: 'a:1,b:2',
    topic: 't.events',
    group: 'g',
    url: "http://h/it's",
    hosts: '1',
    inFlight: '256',
  }

  it('passes each value to a peer as one shell word, and keeps JSON and shell variables', () => {
    const command = `run --brokers={brokers} --set '{"topic":1}' $\{HOME} {url} {inFlight}`
    expect(filledIn(command, values)).toBe(
      `run --brokers='a:1,b:2' --set '{"topic":1}' $\{HOME} 'http://h/it'\\''s' '256'`,
    )
  })

  it('passes the same values to a peer in its environment', () => {
    expect(asEnvironment(values)).toMatchObject({ BENCH_BROKERS: 'a:1,b:2', BENCH_IN_FLIGHT: '256' })
  })

  it('accepts a peer name with a dash and a dot', () => {
    expect(parsePeer('benthos-4.60=peer run')).toEqual({ name: 'benthos-4.60', command: 'peer run' })
  })
})
