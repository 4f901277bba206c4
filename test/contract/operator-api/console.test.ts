import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../support/operator/server.ts'

let folder: string
let server: Awaited<ReturnType<typeof startOperator>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookline-console-'))
  await mkdir(join(folder, 'console/assets'), { recursive: true })
  const files = {
    'secret.txt': 'secret',
    'console/index.html': '<title>page</title>',
    'console/index.html.gz': 'compressed page',
    'console/assets/main-1.js': 'script',
    'console/assets/main-1.js.br': 'compressed script',
    'console/assets/main-1.css': 'style',
    'console/assets/icon-1.svg': '<svg/>',
    'console/assets/.hidden': 'hidden',
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  server = await startOperator(new ScriptedOperatorApi(), { consoleDirectory: join(folder, 'console') })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

/** Requests a path exactly as it is given. `fetch` would resolve its dots. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await new Promise<IncomingMessage>((done, failed) => {
    httpRequest(server.url, { path, method, headers }, done).on('error', failed).end()
  })
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

describe('the page', () => {
  it.each(['/console', '/console/', '/console/destinations/crm.eu', '/console//messages/a%2Fb'])(
    'is at %s, and never stored',
    async path => {
      const { status, headers, body } = await ask(path)
      expect([status, body]).toEqual([200, '<title>page</title>'])
      expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
      // With these headers, a browser would keep an old page: all files of a package have the same
      // modification time.
      expect([headers['etag'], headers['last-modified']]).toEqual([undefined, undefined])
    },
  )

  it('is where / leads to', async () => {
    const { status, headers } = await ask('/')
    expect([status, headers.location]).toEqual([302, '/console/'])
  })

  it('allows only files and requests of this listener, and no frame', async () => {
    const { headers } = await ask('/console/')
    const policy = Object.fromEntries(
      String(headers['content-security-policy'])
        .split('; ')
        .map(directive => directive.split(/ (.*)/, 2)),
    )
    expect(policy).toEqual({
      ...{ 'default-src': "'none'", 'script-src': "'self'", 'style-src': "'self'", 'img-src': "'self'" },
      ...{ 'font-src': "'self'", 'connect-src': "'self'", 'form-action': "'none'", 'base-uri': "'none'" },
      'frame-ancestors': "'none'",
    })
    expect(headers).toMatchObject({
      ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
      'cross-origin-opener-policy': 'same-origin',
    })
  })
})

describe('a file', () => {
  it.each([
    ['main-1.js', 'application/javascript; charset=utf-8', 'script'],
    ['main-1.css', 'text/css; charset=utf-8', 'style'],
    ['icon-1.svg', 'image/svg+xml', '<svg/>'],
  ])('%s has its type, and browsers keep it for a year', async (name, type, content) => {
    const { status, headers, body } = await ask(`/console/assets/${name}`)
    expect([status, body]).toEqual([200, content])
    expect(headers).toMatchObject({
      ...{ 'content-type': type, 'x-content-type-options': 'nosniff' },
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })

  it('is sent compressed to browsers that accept it', async () => {
    const { headers, body } = await ask('/console/assets/main-1.js', { 'accept-encoding': 'gzip, br' })
    expect([headers['content-encoding'], headers['content-type'], body]).toEqual([
      ...['br', 'application/javascript; charset=utf-8', 'compressed script'],
    ])
    const page = await ask('/console/', { 'accept-encoding': 'gzip' })
    expect([page.headers['content-encoding'], page.body]).toEqual(['gzip', 'compressed page'])
  })

  // Paths that begin with /console/assets/ return 404. The last two return the console's HTML page.
  it.each([
    '/console/assets/../index.html',
    '/console/assets/../../secret.txt',
    '/console/assets/..%2f..%2fsecret.txt',
    '/console/assets/%2e%2e/%2e%2e/secret.txt',
    '/console/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
    '/console/assets/..%5c..%5csecret.txt',
    '/console/assets/%252e%252e%252fsecret.txt',
    '/console/assets//etc/passwd',
    '/console/assets/%00main-1.js',
    '/console/assets/.hidden',
    '/console/assets/main-2.js',
    '/console/../secret.txt',
    '/console/%2e%2e%2fsecret.txt',
  ])('outside of the assets is never sent: %s', async path => {
    const { status, body } = await ask(path)
    if (status === 200) expect(body).toBe('<title>page</title>')
    else expect([status, JSON.parse(body).code]).toEqual([404, 'not_found'])
  })

  it('has the methods GET and HEAD', async () => {
    const { status, headers, body } = await ask('/console/assets/main-1.js', {}, 'POST')
    expect([status, headers.allow, JSON.parse(body).code]).toEqual([405, 'GET, HEAD, OPTIONS', 'method_not_allowed'])
    expect((await ask('/console/assets/main-1.js', {}, 'HEAD')).status).toBe(200)
    expect((await ask('/console/', {}, 'OPTIONS')).headers.allow).toBe('GET, HEAD, OPTIONS')
  })
})

it('a process without the build says how to make it', async () => {
  const without = await startOperator(new ScriptedOperatorApi())
  try {
    for (const path of ['/console/', '/console/destinations', '/console/assets/main-1.js']) {
      const response = await fetch(without.url + path)
      const { code, message } = (await response.json()) as { code: string; message: string }
      expect([response.status, code]).toEqual([404, 'not_found'])
      expect(message).toContain('npm run build:console')
    }
  } finally {
    await without.stop()
  }
})
