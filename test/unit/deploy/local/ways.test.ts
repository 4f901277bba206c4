import { describe, expect, it } from '@jest/globals'
import { firstOpenWay, NothingAvailable, type Way } from '../../../../deploy/tools/local/ways.ts'

const open = (name: string): Way<string> => ({ name, attempt: async () => ({ kind: 'got', it: name }) })
const closed = (name: string, why: string, remedy = 'Get one'): Way<string> => ({
  name,
  attempt: async () => ({ kind: 'unavailable', why, remedy }),
})
const broken = (name: string): Way<string> => ({ name, attempt: () => Promise.reject(new Error(`${name} broke`)) })
const untouched = (name: string): Way<string> => ({
  name,
  attempt: () => Promise.reject(new Error(`${name} was tried`)),
})

describe('firstOpenWay', () => {
  const cases: readonly [string, readonly Way<string>[], string, string][] = [
    ['the first, without a look at the others', [open('A'), untouched('B')], 'A', 'Kafka: A'],
    ['the next when the first is closed', [closed('A', 'not set'), open('B')], 'B', 'Kafka: B (A: not set)'],
    [
      'the last, with every reason',
      [closed('A', 'not set'), closed('B', 'no daemon'), open('C')],
      'C',
      'Kafka: C (A: not set; B: no daemon)',
    ],
  ]
  it.each(cases)('takes %s', async (_, ways, taken, line) => {
    const lines: string[] = []
    expect(await firstOpenWay('Kafka', ways, each => lines.push(each))).toBe(taken)
    expect(lines).toEqual([line])
  })

  it('lists each source, what it lacks and the remedy when none is available', async () => {
    const ways = [closed('KAFKA_BROKERS', 'not set', 'Set it'), closed('Docker', 'no daemon answers', 'Start it')]
    const failure = await firstOpenWay('Kafka', ways, () => {}).catch(error => error)
    expect(failure).toBeInstanceOf(NothingAvailable)
    expect(failure.message).toBe(
      [
        'Kafka is not available. Use one of these options:',
        '  - KAFKA_BROKERS: not set. Set it',
        '  - Docker: no daemon answers. Start it',
      ].join('\n'),
    )
  })

  it('reports the error of an available source instead of trying the next one', async () => {
    await expect(firstOpenWay('Kafka', [broken('A'), open('B')], () => {})).rejects.toThrow('A broke')
  })
})
