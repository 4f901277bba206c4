import { expect, it } from '@jest/globals'
import { changeIn, probeDocument, sourceCount } from '../changed-and-unchanged-destinations.ts'
import { msUntilInForce } from '../time-until-in-force.ts'

const partitionOf = new Map([0, 1, 2, 3, 4, 5].map(number => [number, number % 2]))

it('a change is in force when each partition has delivered a request with it or with a later one', () => {
  const log = {
    numbers: [0, 1, 2, 3, 4, 5],
    times: [100, 110, 120, 130, 140, 150],
    paths: ['/hook/v0', '/hook/v0', '/hook/v1', '/hook/v0', '/hook/v3', '/hook/v2'],
  }
  const changes = [1, 2, 3].map(number => ({ number, answeredAt: 115 }))
  expect(msUntilInForce(changes, log, partitionOf)).toEqual([35, 35, Number.POSITIVE_INFINITY])
})

it('ignores the requests of other destinations', () => {
  const log = { numbers: [0, 2], times: [100, 120], paths: ['/hook/v1', '/hook/7'] }
  expect(msUntilInForce([{ number: 1, answeredAt: 100 }], log, partitionOf)).toEqual([0])
})

it.each([
  ['/hook/v12', 12],
  ['/hook/12', undefined],
  ['/hook', undefined],
])('reads the change of %s', (path, change) => expect(changeIn(path)).toBe(change))

it('every fourth event is for the probe, so that a change is visible within milliseconds', () => {
  const everyFourth = Array.from({ length: sourceCount / 4 }, (_, turn) => `s${turn * 4}`)
  expect(probeDocument('https://receiver.example', 1).sources).toEqual(everyFourth)
})
