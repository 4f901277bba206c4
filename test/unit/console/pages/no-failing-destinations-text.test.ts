import { expect, it } from '@jest/globals'
import { noFailingText } from '../../../../packages/console/src/pages/overview/no-failing-destinations-text.ts'

const unknown = 'It is unknown whether destinations are failing.'
const noBreaker = 'No circuit breaker is open.'
const noLetter = 'No destination has dead letters from the last hour.'
const breakersMissing = 'The states of some or all circuit breakers are unknown.'
const lettersMissing = 'The list of dead letters from the last hour is incomplete or missing.'

it.each<[string, Parameters<typeof noFailingText>, string, string]>([
  ['both', [{ openBreakers: [] }, {}], 'No destination is failing.', `${noBreaker} ${noLetter}`],
  ['only circuit breakers', [{ openBreakers: [] }, undefined], unknown, `${noBreaker} ${lettersMissing}`],
  ['only dead letters', [undefined, {}], unknown, `${breakersMissing} ${noLetter}`],
  ['a status of an older operator service', [{}, {}], unknown, `${breakersMissing} ${noLetter}`],
  ['an incomplete status', [{ openBreakers: [], partial: true }, {}], unknown, `${breakersMissing} ${noLetter}`],
  ['a page of several', [{ openBreakers: [] }, { next: '2-1' }], unknown, `${noBreaker} ${lettersMissing}`],
  ['neither', [undefined, undefined], unknown, `${breakersMissing} ${lettersMissing}`],
])('with %s, the overview claims only what is known', (_, known, title, reason) => {
  expect(noFailingText(...known)).toEqual({ title, reason })
})
