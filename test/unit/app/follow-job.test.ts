import { expect, it } from '@jest/globals'
import { runCommand } from '../../support/process/in-process-command.ts'

it.each([
  ['replay', '--follow'],
  ['replay', '--cancel'],
  ['resend', '--follow'],
  ['resend', '--cancel'],
])('%s rejects an empty id in %s', async (kind, option) => {
  expect(await runCommand([kind, option, ''])).toEqual({
    code: 2,
    out: '',
    err: `hookline: ${option}: the id of a ${kind} must not be empty; use the id that the command printed when it created the ${kind}\n`,
  })
})
