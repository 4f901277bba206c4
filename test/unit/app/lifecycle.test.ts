import { describe, expect, it } from '@jest/globals'
import { Lifecycle } from '../../../src/app/lifecycle.ts'
import type { Logger } from '../../../src/core/ports.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'

function recorded() {
  const seen: string[] = []
  const logger: Logger = { ...silent, error: (fields, line) => void seen.push(`${line}: ${JSON.stringify(fields)}`) }
  const part = (name: string, fails: 'start' | 'stop' | 'never' = 'never') => ({
    name,
    start: async () => {
      seen.push(`start ${name}`)
      if (fails === 'start') throw new Error(`${name} does not start`)
    },
    stop: async () => {
      seen.push(`stop ${name}`)
      if (fails === 'stop') throw new Error('broken')
    },
  })
  return { seen, part, lifecycle: new Lifecycle(logger) }
}

describe('Lifecycle', () => {
  it('stops components once, in reverse order of their start', async () => {
    const { seen, part, lifecycle } = recorded()
    await lifecycle.start(part('a'))
    await lifecycle.start(part('b'))
    await lifecycle.stop()
    await lifecycle.stop()
    expect(seen).toEqual(['start a', 'start b', 'stop b', 'stop a'])
  })

  it('stops a component that fails to start, and then the earlier ones', async () => {
    const { seen, part, lifecycle } = recorded()
    await lifecycle.start(part('a'))
    await expect(lifecycle.start(part('b', 'start'))).rejects.toThrow('b does not start')
    expect(seen).toEqual(['start a', 'start b', 'stop b', 'stop a'])
  })

  it('stops the other components when one fails to stop', async () => {
    const { seen, part, lifecycle } = recorded()
    await lifecycle.start(part('a'))
    await lifecycle.start(part('b', 'stop'))
    await lifecycle.stop()
    expect(seen).toEqual([
      'start a',
      'start b',
      'stop b',
      'one component of this process failed to stop (see the field "part"); the process stops its other components: {"part":"b","error":"Error: broken"}',
      'stop a',
    ])
  })
})
