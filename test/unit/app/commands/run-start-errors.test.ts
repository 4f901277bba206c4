import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { smallConfiguration } from '../../../support/config/small-configuration.ts'
import { runCommand } from '../../../support/process/in-process-command.ts'

const closing = closingAfterEach()

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

describe('HOOKLINE_LOG_LEVEL', () => {
  const run = (level: string, ...options: readonly string[]) =>
    runCommand(['run', '--config', '/nowhere/hookline.yaml', ...options], { env: { HOOKLINE_LOG_LEVEL: level } })
  const noFile = { code: 2, out: '', err: expect.stringContaining('/nowhere/hookline.yaml') }

  it('is not used if it is empty', async () => {
    const { env } = process
    process.env = { ...env, HOOKLINE_LOG_LEVEL: '' }
    try {
      expect(await run('')).toEqual(noFile)
    } finally {
      process.env = env
    }
  })

  it('rejects an unknown level, unless --log-level is given', async () => {
    const err = "hookline: HOOKLINE_LOG_LEVEL: unknown value 'loud' (possible: debug, info, warn, error)\n"
    expect(await run('loud')).toEqual({ code: 2, out: '', err })
    expect(await run('loud', '--log-level', 'info')).toEqual(noFile)
  })
})

it('names the key of an address at which another process listens', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  closing({ close: async () => void other.close() })
  await once(other, 'listening')
  const address = `127.0.0.1:${(other.address() as AddressInfo).port}`
  const folder = await configFolder({ 'hookline.yaml': `${smallConfiguration()}\nops: { listen: "${address}" }\n` })
  expect(await runCommand(['run', '--config', `${folder}/hookline.yaml`])).toEqual({
    code: 1,
    out: '',
    err: `hookline: cannot listen at ops.listen: listen EADDRINUSE: address already in use ${address}; choose another address or port\n`,
  })
})
