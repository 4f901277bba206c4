import { describe, expect, it } from '@jest/globals'
import { OpenConnections } from '../../../../src/adapters/webhook/close-longest-idle-connections.ts'
import { maxOpenWith } from '../../../../src/adapters/webhook/http-client-limits.ts'

const max = 2

/** Opens connections, which note their names in `destroyed` when they are destroyed. */
function connections() {
  const open = new OpenConnections(max)
  const destroyed: string[] = []
  const opened = (name: string) => {
    open.opened()
    return { destroy: () => destroyed.push(name) }
  }
  return { open, opened, destroyed }
}

describe('the open connections', () => {
  it('closes the connection that has been idle for longest when one more is opened', () => {
    const { open, opened, destroyed } = connections()
    const [a, b] = [opened('a'), opened('b')]
    open.becameIdle(b)
    open.becameIdle(a)
    opened('c')
    expect(destroyed).toEqual(['b'])
  })

  it('closes only one connection for each surplus one, also before the first is closed', () => {
    const { open, opened, destroyed } = connections()
    const [a, b] = [opened('a'), opened('b'), opened('c')]
    open.becameIdle(a)
    open.becameIdle(b)
    expect(destroyed).toEqual(['a'])
    open.closed(a)
    opened('d')
    expect(destroyed).toEqual(['a', 'b'])
  })

  it('closes no connection in use, but the next one that becomes idle', () => {
    const { open, opened, destroyed } = connections()
    const [a] = [opened('a'), opened('b'), opened('c')]
    expect(destroyed).toEqual([])
    open.becameIdle(a)
    expect(destroyed).toEqual(['a'])
  })

  it('does not close a reused connection', () => {
    const { open, opened, destroyed } = connections()
    const [a, b] = [opened('a'), opened('b')]
    open.becameIdle(a)
    open.becameIdle(b)
    open.reused(a)
    opened('c')
    expect(destroyed).toEqual(['b'])
  })

  it('closes none as long as the maximum is not exceeded', () => {
    const { open, opened, destroyed } = connections()
    const [a, b] = [opened('a'), opened('b')]
    open.becameIdle(a)
    open.becameIdle(b)
    open.closed(a)
    open.becameIdle(opened('c'))
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
