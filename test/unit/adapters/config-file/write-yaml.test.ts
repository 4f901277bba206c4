import { expect, it } from '@jest/globals'
import { readYamlStream } from '../../../../src/adapters/config-file/read-yaml.ts'
import { yamlOf } from '../../../../src/adapters/config-file/write-yaml.ts'

const document = {
  id: 'crm',
  enabled: true,
  sources: ['web', 'yes', '007'],
  sharedSecret: '***',
  policy: { maxConcurrency: 16, timeout: '3s' },
  webhooks: [
    { url: 'https://crm.example/***', headers: { 'X-Template': `a \${b} $\${c}`, 'X-Long': 'x '.repeat(100) } },
  ],
}

it('writes YAML that is read as the same document, also with ${ in a value', () => {
  const [read, ...others] = readYamlStream(`# a comment\n${yamlOf(document)}`, {})
  expect(others).toEqual([])
  expect(read?.problems).toEqual([])
  expect(read?.value).toEqual(document)
})
