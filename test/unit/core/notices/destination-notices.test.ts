import { describe, expect, it } from '@jest/globals'
import type { DestinationFacts } from '../../../../src/core/notices/destination-facts.ts'
import { DestinationNotices } from '../../../../src/core/notices/destination-notices.ts'
import type { Notice } from '../../../../src/core/notices/notice.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { start } from '../../../support/builders.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

const seen = (given: Partial<DestinationFacts>): DestinationFacts => ({
  ...{ destination: 'crm', health: undefined, outcomes: [], gone: [], deadLetters: {} },
  ...given,
})
const failing = seen({ health: 'failing', outcomes: ['http_5xx'] })
const recovered = seen({ health: 'recovered', outcomes: ['delivered'] })
const gone = (...webhooks: string[]) => seen({ gone: webhooks })
const dead = (deadLetters: DestinationFacts['deadLetters']) => seen({ deadLetters })

type Step = readonly [at: number, facts: DestinationFacts | undefined]

function story(steps: readonly Step[]): readonly string[] {
  const notices = new DestinationNotices('crm')
  return steps.flatMap(([at, facts]) => {
    const now = epochMs(start + at)
    if (facts !== undefined) notices.observe(facts, 'facts-1', now)
    return notices.takeDue(now).map(notice => `${at / second}s ${textOf(notice)}`)
  })
}

function textOf(notice: Notice): string {
  switch (notice.kind) {
    case 'failing':
      return `failing ${notice.outcomes.join()}`
    case 'recovered':
      return `recovered ${notice.outcomes.join()} after ${notice.failingSince === undefined ? '?' : (notice.failingSince - start) / second}`
    case 'gone':
      return `gone ${notice.webhooks.join()}`
    case 'dead_lettered':
      return `dead ${JSON.stringify(notice.reasons)} since ${(notice.since - start) / second}`
    default:
      return notice.kind
  }
}

describe('notices about the health', () => {
  it.each<[string, Step[], string[]]>([
    [
      'an outage and its end',
      [
        [0, failing],
        [40 * second, recovered],
      ],
      ['0s failing http_5xx', '40s recovered delivered after 0'],
    ],
    [
      'an outage that two processes see',
      [
        [0, failing],
        [3 * minute, failing],
      ],
      ['0s failing http_5xx'],
    ],
    [
      'an end that two processes see',
      [
        [0, failing],
        [minute, recovered],
        [3 * minute, recovered],
      ],
      ['0s failing http_5xx', '60s recovered delivered after 0'],
    ],
    ['an end whose beginning another owner reported', [[0, recovered]], ['0s recovered delivered after ?']],
    [
      'another outage within the minute is reported at its end',
      [
        [0, failing],
        [10 * second, recovered],
        [20 * second, failing],
        [59 * second, undefined],
        [minute, undefined],
      ],
      ['0s failing http_5xx', '10s recovered delivered after 0', '60s failing http_5xx'],
    ],
    [
      'another outage that ends within the minute is not reported',
      [
        [0, failing],
        [10 * second, recovered],
        [20 * second, failing],
        [30 * second, recovered],
        [hour, undefined],
      ],
      ['0s failing http_5xx', '10s recovered delivered after 0'],
    ],
    [
      'an outage whose end no process saw is reported again after an hour',
      [
        [0, failing],
        [59 * minute, failing],
        [119 * minute + 1, failing],
      ],
      ['0s failing http_5xx', '7140.001s failing http_5xx'],
    ],
    [
      'a clock that was set back by an hour delays nothing',
      [
        [hour, failing],
        [hour + second, recovered],
        [0, failing],
      ],
      ['3600s failing http_5xx', '3601s recovered delivered after 3600', '0s failing http_5xx'],
    ],
  ])('%s', (_, steps, expected) => {
    expect(story(steps)).toEqual(expected)
  })
})

describe('notices about webhooks that are gone', () => {
  it.each<[string, Step[], string[]]>([
    [
      'once an hour',
      [
        [0, gone('0')],
        [30 * minute, gone('0')],
        [hour, gone('0')],
      ],
      ['0s gone 0', '3600s gone 0'],
    ],
    [
      'several webhooks in one notice',
      [
        [0, gone('1', '0')],
        [second, gone('2', '1')],
        [minute, undefined],
      ],
      ['0s gone 0,1', '60s gone 2'],
    ],
  ])('%s', (_, steps, expected) => {
    expect(story(steps)).toEqual(expected)
  })
})

it('counts dead letters of all processes, in one notice a minute', () => {
  const steps: Step[] = [
    [0, dead({ http_4xx: 2 })],
    [5 * second, dead({ http_4xx: 1 })],
    [10 * second, dead({ retries_exhausted: 4, http_4xx: 1 })],
    [59 * second, undefined],
    [minute, undefined],
    [3 * minute, undefined],
    [3 * minute, dead({ http_4xx: 7 })],
  ]
  expect(story(steps)).toEqual([
    '0s dead {"http_4xx":2} since 0',
    '60s dead {"http_4xx":2,"retries_exhausted":4} since 5',
    '180s dead {"http_4xx":7} since 180',
  ])
})

it('the facts that no notice has reported can be taken once, for the next owner', () => {
  const notices = new DestinationNotices('crm')
  expect(notices.takeUnreported()).toBeUndefined()
  notices.observe(recovered, 'facts-1', start)
  notices.takeDue(start)
  notices.observe({ ...failing, gone: ['0'], deadLetters: { http_4xx: 1 } }, 'facts-1', start)
  const unreported = { ...failing, gone: ['0'], deadLetters: { http_4xx: 1 } }
  expect([notices.takeUnreported(), notices.takeUnreported(), notices.takeDue(start)]).toEqual([
    unreported,
    undefined,
    [],
  ])
})

it('reports the facts that were taken when it is the next owner itself', () => {
  const notices = new DestinationNotices('crm')
  notices.observe(recovered, 'facts-1', start)
  notices.takeDue(start)
  notices.observe(failing, 'facts-1', start)
  notices.observe(notices.takeUnreported()!, 'facts-1', start)
  expect(notices.takeDue(start)).toMatchObject([{ kind: 'failing' }])
})

it('limits each kind of notice on its own, and knows whether one waits', () => {
  const notices = new DestinationNotices('crm')
  notices.observe({ ...failing, gone: ['0'], deadLetters: { http_4xx: 1 } }, 'facts-1', start)
  expect(notices.takeDue(start).map(({ kind }) => kind)).toEqual(['failing', 'gone', 'dead_lettered'])
  expect(notices.hasUnreported).toBe(false)
  notices.observe(recovered, 'facts-1', start)
  expect(notices.takeDue(start).map(({ kind }) => kind)).toEqual(['recovered'])
  notices.observe(failing, 'facts-1', start)
  expect([notices.takeDue(start), notices.hasUnreported]).toEqual([[], true])
})
