import { describe, expect, it } from '@jest/globals'
import { runCommand } from '../../../support/process/in-process-command.ts'

describe('hookline run --services', () => {
  it.each([
    [
      'unknown',
      'collecter',
      "hookline: --services: unknown value 'collecter' (possible: collector, dispatcher, audiences, operator)\n",
    ],
    [
      'two names, one of them unknown',
      'collector, audience',
      "hookline: --services: unknown value ' audience' (possible: collector, dispatcher, audiences, operator)\n",
    ],
    ['empty', '', "hookline: --services: unknown value '' (possible: collector, dispatcher, audiences, operator)\n"],
  ])('%s', async (_, services, err) => {
    expect(await runCommand(['run', '--services', services])).toEqual({ code: 2, out: '', err })
  })
})
