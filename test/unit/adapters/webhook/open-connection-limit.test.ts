import { describe, expect, it } from '@jest/globals'
import { maxOpenWith } from '../../../../src/adapters/webhook/http-client-limits.ts'
import { ConnectionLimit } from '../../../../src/adapters/webhook/open-connection-limit.ts'

const max = 2

/** Opens connections, which note their names in `destroyed` when they are destroyed. */
function connections() {
  const limit = new ConnectionLimit(max)
  const destroyed: string[] = []
  const opened = (name: string) => {
    limit.opened()
    return { destroy: () => destroyed.push(name) }
  }
  return { limit, opened, destroyed }
}

describe('the open connections', () => {
  it('closes the connection that has been idle for longest when one more is opened', () => {
    const { limit, opened, destroyed } = connections()
    const [a, b] = [opened('a'), opened('b')]
    limit.becameIdle(b)
    limit.becameIdle(a)
    opened('c')
    expect(destroyed).toEqual(['b'])
  })

  it('closes only one connection for each surplus one, also before the first is closed', () => {
    const { limit, opened, destroyed } = connections()
    const [a, b] = [opened('a'), opened('b'), opened('c')]
    limit.becameIdle(a)
    limit.becameIdle(b)
    expect(destroyed).toEqual(['a'])
    limit.closed(a)
    opened('d')
    expect(destroyed).toEqual(['a', 'b'])
  })

  it('closes no connection in use, but the next one that becomes idle', () => {
    const { limit, opened, destroyed } = connections()
    const [a] = [opened('a'), opened('b'), opened('c')]
    expect(destroyed).toEqual([])
    limit.becameIdle(a)
    expect(destroyed).toEqual(['a'])
  })

  it('does not close a reused connection', () => {
    const { limit, opened, destroyed } = connections()
    const [a, b] = [opened('a'), opened('b')]
    limit.becameIdle(a)
    limit.becameIdle(b)
    limit.reused(a)
    opened('c')
    expect(destroyed).toEqual(['b'])
  })

  it('closes none as long as the maximum is not exceeded', () => {
    const { limit, opened, destroyed } = connections()
    const [a, b] = [opened('a'), opened('b')]
    limit.becameIdle(a)
    limit.becameIdle(b)
    limit.closed(a)
    limit.becameIdle(opened('c'))
    expect(destroyed).toEqual([])
  })
})

describe('the maximum of open connections', () => {
  const mib = 1_024 * 1_024

  it.each([
    ['768 MiB, the limit in the chart', 768 * mib, 4_096],
    ['2 GiB', 2_048 * mib, 10_922],
    ['much memory', 64_000 * mib, 12_000],
    ['no limit', 0, 12_000],
  ])('%s', (_, bytes, expected) => expect(maxOpenWith(bytes)).toBe(expected))
})
