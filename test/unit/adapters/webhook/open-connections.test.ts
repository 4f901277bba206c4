import { describe, expect, it } from '@jest/globals'
import { OpenConnections } from '../../../../src/adapters/webhook/open-connections.ts'

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
