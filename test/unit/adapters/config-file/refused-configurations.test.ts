import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { formatProblem, loadConfigFile } from '../../../../src/adapters/config-file/config-file.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { type ConfigCase, configCases } from '../../../support/config/refused-cases.ts'
import { createAuthority, selfSigned } from '../../../support/network/certificates.ts'

const env: Record<string, string> = { N: '12', WORD: 'word', EMPTY: '', SECRET: 's3cret', LIST: 'a:1,b' }
let folder: string

beforeAll(async () => {
  const authority = createAuthority()
  const client = authority.issue()
  const broken = authority.cert.replace(/[A-Za-z0-9+/]{60}/, line => line.toLowerCase())
  folder = await configFolder({
    secret: 'web-key\n',
    empty: '',
    newline: '\n',
    lines: 'one\ntwo\n',
    'private-url': 'http://10.0.0.1/s3cret',
    'plain-url': 'http://a.example/s3cret',
    latin1: Uint8Array.of(0xe9, 0xe8),
    'ca.pem': authority.cert,
    'half.pem': `${authority.cert}${broken}`,
    'cut.pem': `${authority.cert}${authority.cert.slice(0, 300)}`,
    'none.pem': 'no certificate\n',
    'client.pem': client.cert,
    'client.key': client.key,
    'other.key': selfSigned().key,
  })
  await mkdir(join(folder, 'folder'))
  const pem = { CERT: client.cert, KEY: client.key, OTHER_KEY: selfSigned().key, HALF_CA: `${authority.cert}${broken}` }
  Object.assign(env, pem)
})

async function refusalOf(text: string): Promise<readonly string[]> {
  const path = join(folder, 'hookline.yaml')
  await writeFile(path, text)
  const result = await loadConfigFile(path, env)
  if (result.kind === 'loaded') return ['loaded']
  return result.problems.map(problem =>
    formatProblem(problem).replaceAll(`${folder}/`, '').replace('hookline.yaml:', ''),
  )
}

describe.each(['form', 'environment', 'values', 'rules', 'filter', 'authentication'])('%s', name => {
  it.each(configCases(name).map(each => [each.title, each] as [string, ConfigCase]))('%s', async (_, each) => {
    const refusal = await refusalOf(each.text)
    expect(refusal).toEqual(each.refused)
    expect(refusal.join('\n')).not.toContain('s3cret')
  })
})
