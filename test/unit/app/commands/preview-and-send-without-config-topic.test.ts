import { expect, it } from '@jest/globals'
import { configFolder } from '../../../support/config/config-folder.ts'
import { keyFile } from '../../../support/config-objects/example-objects.ts'
import { runCommand } from '../../../support/process/in-process-command.ts'

/* Tests of commands that do not read the config topic. */

const folder = await configFolder({
  'topic.key': keyFile('first'),
  'hookline.yaml': `kafka: { brokers: ["127.0.0.1:1"] }
registry: { url: "http://127.0.0.1:1" }
operator: { encryptionKeyFile: topic.key }
sources: [{ id: web, writeKey: k1 }]
destinations: [{ id: crm, sources: [web], webhooks: [{ url: "https://crm.example.com/" }] }]
`,
})
const message = '{"type":"track","userId":"u-1","event":"Signed up"}'
const note = 'this command does not know destinations and sources that were created through the operator API'

it.each([
  ['preview', '--destination', 'erp', 'crm'],
  ['preview', '--destination', '', 'crm'],
  ['preview', '--source', 'mobile', 'web'],
  ['send', '--source', 'mobile', 'web'],
])('hookline %s %s %s is rejected, with the reason', async (command, option, typed, known) => {
  const argv = [command, '--config', `${folder}/hookline.yaml`, option, typed]
  expect(await runCommand(argv, { stdin: message })).toEqual({
    code: 2,
    out: '',
    err: `hookline: ${option}: unknown value '${typed}' (possible: ${known}; ${note})\n`,
  })
})

it('hookline preview shows a request to a destination of the file without Kafka', async () => {
  const argv = ['preview', '--config', `${folder}/hookline.yaml`, '--destination', 'crm']
  expect(await runCommand(argv, { stdin: message })).toMatchObject({ code: 0, err: '' })
})
