import { describe, expect, it } from '@jest/globals'
import { runCommand } from '../../../support/process/command-io.ts'

describe('hookline run --services', () => {
  it.each([
    ['unknown', 'collecter', "hookline: --services: 'collecter' is none of collector, dispatcher, audiences\n"],
    [
      'one of two',
      'collector, audience',
      "hookline: --services: ' audience' is none of collector, dispatcher, audiences\n",
    ],
    ['empty', '', "hookline: --services: '' is none of collector, dispatcher, audiences\n"],
  ])('%s', async (_, services, err) => {
    expect(await runCommand(['run', '--services', services])).toEqual({ code: 2, out: '', err })
  })

  it('is told by the help, with all of them', async () => {
    const { code, out } = await runCommand(['run', '--help'])
    expect(code).toBe(0)
    expect(out.replaceAll(/\s+/g, ' ')).toContain('separated by commas (all): collector, dispatcher, audiences')
  })
})
