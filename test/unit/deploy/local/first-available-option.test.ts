import { describe, expect, it } from '@jest/globals'
import { firstAvailable, NothingAvailable, type Option } from '../../../../deploy/tools/local/first-available-option.ts'

const open = (name: string): Option<string> => ({ name, find: async () => ({ kind: 'available', value: name }) })
const unavailable = (name: string, why: string, remedy = 'Get one'): Option<string> => ({
  name,
  find: async () => ({ kind: 'unavailable', why, remedy }),
})
const broken = (name: string): Option<string> => ({ name, find: () => Promise.reject(new Error(`${name} broke`)) })
const untouched = (name: string): Option<string> => ({
  name,
  find: () => Promise.reject(new Error(`${name} was tried`)),
})

describe('firstAvailable', () => {
  const cases: readonly [string, readonly Option<string>[], string, string][] = [
    ['the first without checking the others', [open('A'), untouched('B')], 'A', 'Kafka: uses A'],
    [
      'the next when the first is unavailable',
      [unavailable('A', 'not set'), open('B')],
      'B',
      'Kafka: uses B (these are not available: A: not set)',
    ],
    [
      'the last, with every reason',
      [unavailable('A', 'not set'), unavailable('B', 'no daemon'), open('C')],
      'C',
      'Kafka: uses C (these are not available: A: not set; B: no daemon)',
    ],
  ]
  it.each(cases)('uses %s', async (_, options, taken, line) => {
    const lines: string[] = []
    expect(await firstAvailable('Kafka', options, each => lines.push(each))).toBe(taken)
    expect(lines).toEqual([line])
  })

  it('lists each source, what it lacks and the remedy when none is available', async () => {
    const options = [
      unavailable('KAFKA_BROKERS', 'not set', 'Set it'),
      unavailable('Docker', 'no daemon answers', 'Start it'),
    ]
    const failure = await firstAvailable('Kafka', options, () => {}).catch(error => error)
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
    await expect(firstAvailable('Kafka', [broken('A'), open('B')], () => {})).rejects.toThrow('A broke')
  })
})
