import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { runProgram } from '../../../../src/app/program.ts'
import { signerOf } from '../../../../src/core/delivery/build-and-sign-requests.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { createAuthority } from '../../../support/network/certificates.ts'
import { createTestIo, runCommand } from '../../../support/process/in-process-command.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookline-sink-'))
})
afterAll(() => rm(folder, { recursive: true }))

const body = '{"type":"track","userId":"u-1"}'
const signed = (secret: string): Record<string, string> => ({
  'X-Message-Id': 'm-1',
  'X-Signature': signerOf(new Secret(secret))(Buffer.from(body)),
})
const ready = /^hookline sink listening on (https?:\/\/\S+)\n/

async function withSink(argv: readonly string[], use: (url: string) => Promise<unknown>) {
  const stopping = new AbortController()
  const io = createTestIo({ signal: stopping.signal })
  const listening = Promise.withResolvers<string>()
  for (const stream of [io.stdout, io.stderr])
    stream.on('data', chunk => {
      const [, url] = ready.exec(String(chunk)) ?? []
      if (url !== undefined) listening.resolve(url)
    })
  const ended = runProgram(['sink', '--listen', '127.0.0.1:0', ...argv], io)
  const used = await Promise.race([listening.promise.then(use), ended]).finally(() => stopping.abort())
  const code = await ended
  return { code, used, out: io.out().replace(ready, 'ready\n'), err: io.err().replace(ready, 'ready\n') }
}

/** Resolves with the status of the response, or with the code of a connection error. */
const post = (url: string, headers: Record<string, string> = {}, text = body, ca?: string) =>
  new Promise<number | string | undefined>(resolve => {
    const options = { method: 'POST', headers, agent: false, ...(ca !== undefined && { ca }) }
    const send = url.startsWith('https:') ? tlsRequest : request
    send(url, options, response => {
      response.resume()
      response.once('end', () => resolve(response.statusCode))
    })
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      .end(text)
  })

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const withoutTimes = (text: string): string => text.replaceAll(/^\d\d:\d\d:\d\d\.\d{3} /gm, '')

describe('hookline sink', () => {
  it('prints its address, one line per request and a summary', async () => {
    const { code, out, err } = await withSink(
      ['--secret', 'new', '--secret', 'old', '--statuses', '500, 200'],
      async url => {
        await post(`${url}/hooks?a=1`, signed('old'))
        await post(`${url}/hooks?a=1`, signed('new'))
        await post(`${url}/hooks`, { 'X-Message-Id': 'm-2' }, 'no json')
      },
    )
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(withoutTimes(out)).toBe(
      [
        'ready',
        '/hooks?a=1 track m-1 500 signature ok',
        '/hooks?a=1 track m-1 200 signature ok',
        '/hooks - m-2 500 signature BAD',
        'received 3 requests: 2 distinct messages, 1 bad signature\n',
      ].join('\n'),
    )
  })

  it('replaces control characters of requests', async () => {
    const { out } = await withSink([], url => post(url, {}, JSON.stringify({ type: '\u{1b}[2J\nline' })))
    expect(withoutTimes(out)).toBe(
      'ready\n/ \u{fffd}[2J\u{fffd}line - 200 signature not checked\nreceived 1 request: 1 distinct message, signatures not checked\n',
    )
  })

  it('--quiet prints no line per request', async () => {
    const { out } = await withSink(['--quiet'], post)
    expect(out).toBe('ready\nreceived 1 request: 1 distinct message, signatures not checked\n')
  })

  it.each<[string, string[], unknown[]]>([
    ['reset', ['--statuses', 'reset,200'], ['ECONNRESET', 200]],
    ['reset of every nth request', ['--reset-every', '2'], [200, 'ECONNRESET']],
    ['delayed responses', ['--latency', '1ms', '--retry-after', '30', '--statuses', '429'], [429, 429]],
  ])('simulates failures: %s', async (_name, argv, expected) => {
    const { used } = await withSink(argv, async url => [await post(url), await post(url)])
    expect(used).toEqual(expected)
  })

  it('serves HTTPS', async () => {
    const authority = createAuthority()
    const leaf = authority.issue({ names: ['127.0.0.1'] })
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    await Promise.all([writeFile(cert, leaf.cert), writeFile(key, leaf.key)])
    const { used, out } = await withSink(
      ['--tls-cert', cert, '--tls-key', key, '--statuses', '200,reset'],
      async url => [url, await post(url, {}, body, authority.cert), await post(url, {}, body, authority.cert)],
    )
    expect(used).toEqual([expect.stringMatching(/^https:/), 200, 'ECONNRESET'])
    expect(out).toContain('received 2 requests: 1 distinct message')
  })
})

describe('--file', () => {
  it('appends a line for each request before the response', async () => {
    const file = join(folder, 'received.jsonl')
    const secretFile = join(folder, 'secret')
    await Promise.all([writeFile(file, '{"earlier":true}\n'), writeFile(secretFile, 's3cret\n')])
    const lines = async () => (await readFile(file, 'utf8')).trimEnd().split('\n')
    await withSink(['--file', file, '--secret-file', secretFile], async url => {
      await post(`${url}/hooks`, signed('s3cret'), body)
      expect(await lines()).toHaveLength(2)
      await post(`${url}/hooks`, signed('other'), ' { } ')
    })
    const [earlier, ...written] = await lines()
    expect(earlier).toBe('{"earlier":true}')
    expect(written.map(line => Object.keys(JSON.parse(line)))).toEqual(
      Array(2).fill(['at', 'path', 'headers', 'body', 'signatureValid']),
    )
    expect(written.map(line => JSON.parse(line))).toEqual([
      {
        at: time,
        path: '/hooks',
        headers: expect.objectContaining({ 'x-message-id': 'm-1' }),
        body,
        signatureValid: true,
      },
      { at: time, path: '/hooks', headers: expect.any(Object), body: ' { } ', signatureValid: false },
    ])
  })

  it('- writes only JSON lines to stdout', async () => {
    const { out, err } = await withSink(['--file', '-'], url => post(`${url}/a`))
    expect(
      out
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line)),
    ).toEqual([{ at: time, path: '/a', headers: expect.any(Object), body, signatureValid: null }])
    expect(withoutTimes(err)).toBe(
      'ready\n/a track - 200 signature not checked\nreceived 1 request: 1 distinct message, signatures not checked\n',
    )
  })

  it('stops the command when the file cannot be written', async () => {
    const { code, err } = await withSink(['--file', '/dev/full'], async url => {
      await post(url)
      return new Promise(() => {})
    })
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^hookline: cannot write to \/dev\/full: ENOSPC/),
    })
  })
})

describe('one-line errors', () => {
  it.each<[string, string[], number, string]>([
    ['a missing directory', ['--file', '/nowhere/x'], 1, 'cannot write to /nowhere/x: ENOENT'],
    ['a missing secret file', ['--secret-file', '/nowhere/x'], 2, 'cannot read /nowhere/x: ENOENT'],
    [
      'an empty secret',
      ['--secret', ''],
      2,
      'the shared secret is empty: correct --secret or the file of --secret-file',
    ],
    ['a certificate without key', ['--tls-cert', 'x'], 2, '--tls-cert and --tls-key must be used together'],
    [
      'a port alone',
      ['--listen', '9090'],
      2,
      "--listen must be host:port, for example 0.0.0.0:8080 or [::]:8080, not '9090'",
    ],
    [
      'an address of another machine',
      ['--listen', '192.0.2.1:1'],
      1,
      'cannot listen on 192.0.2.1:1: listen EADDRNOTAVAIL',
    ],
    ['a duration without a unit', ['--latency', '20'], 2, "--latency must be a duration such as 20ms or 3s, not '20'"],
    [
      'an invalid status',
      ['--statuses', '200,600'],
      2,
      "--statuses must be a list of HTTP statuses (200 to 599), 'reset' or 'hang', not '200,600'",
    ],
    ['--reset-every 0', ['--reset-every', '0'], 2, "--reset-every must be an integer >= 1, not '0'"],
  ])('%s', async (_name, argv, code, line) => {
    const ended = await runCommand(['sink', ...argv])
    expect(ended).toMatchObject({ code, out: '' })
    expect(ended.err).toMatch(/^hookline: [^\n]*\n$/)
    expect(ended.err).toContain(line)
  })
})
