import { join } from 'node:path'
import { beforeEach, expect, it } from '@jest/globals'
import { closingAfterEach } from '../../support/cleanup.ts'
import { configFolder } from '../../support/config/config-folder.ts'
import { objectsCommand } from '../../support/operator/run-operator-api-commands.ts'
import { readKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'

const closing = closingAfterEach()
let installation: Awaited<ReturnType<typeof objectsCommand>>
let folder: string
beforeEach(async () => {
  installation = closing(await objectsCommand())
  folder = await configFolder({ read: readKey, wrong: 'wrong-key', empty: '', two: 'a\nb\n' })
})

it.each<[string, number, string]>([
  ['--operator-key-file missing', 2, '--operator-key-file: ENOENT'],
  ['--operator-key-file empty', 2, 'empty must contain one operator key and nothing else'],
  ['--operator-key-file two', 2, 'two must contain one operator key and nothing else'],
  ['--operator-url localhost', 2, '--operator-url: '],
  [
    '--operator-key-file wrong',
    1,
    'does not accept the operator key of this command; use a file with a key of operator.keys',
  ],
  ['--operator-key-file read', 1, 'the operator key has the role "read"; use a key with the role "operate"'],
])('hookline destinations pause crm %s', async (options, code, message) => {
  const [name = '', value = ''] = options.split(' ')
  const given = name === '--operator-url' ? value : join(folder, value)
  const result = await installation.run(['destinations', 'pause', 'crm', name, given])
  expect(result).toMatchObject({ code, out: '', err: expect.stringContaining(message) })
  expect(result.err).not.toMatch(/wrong-key|read-key/)
})

it('needs a key', async () => {
  expect(await installation.run(['sources', 'list'], { env: { HOOKLINE_OPERATOR_KEY_FILE: '' } })).toEqual({
    code: 2,
    out: '',
    err: 'hookline: no operator key: use --operator-key-file <file> or set HOOKLINE_OPERATOR_KEY_FILE\n',
  })
})

it('options override the environment, and a URL may end in a slash', async () => {
  const options = ['--operator-url', `${installation.url}/`, '--operator-key-file', join(folder, 'read')]
  const env = { HOOKLINE_OPERATOR_URL: 'http://127.0.0.1:9', HOOKLINE_OPERATOR_KEY_FILE: join(folder, 'wrong') }
  expect(await installation.run(['sources', 'list', ...options], { env })).toMatchObject({ code: 0, err: '' })
})
