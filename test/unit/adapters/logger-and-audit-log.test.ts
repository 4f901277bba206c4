import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'

const source = (file: string): string => new URL(`../../../src/${file}`, import.meta.url).href

function linesAt(level: string): readonly Record<string, unknown>[] {
  return linesOf(
    `
    for (const each of ['debug', 'info', 'warn', 'error']) logger[each]({ destination: 'crm', secret: new Secret('hidden') }, each + ' line')`,
    level,
  )
}

const scriptOf = (doing: string, level = 'info'): string => `
    import { createLogger } from '${source('adapters/logger-and-audit-log.ts')}'
    import { Secret } from '${source('core/secret.ts')}'
    const logger = createLogger('${level}')
    ${doing}`

function linesOf(doing: string, level = 'info'): readonly Record<string, unknown>[] {
  const script = scriptOf(doing, level)
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  return stderr
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
}

describe('the log', () => {
  it('has JSON lines on stderr with level, time and fields, and no secret', () => {
    const [line] = linesAt('error')
    expect(line).toEqual({
      level: 'error',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      destination: 'crm',
      secret: '***',
      msg: 'error line',
    })
  })

  it('hides unknown fields and everything of URLs but the origin', () => {
    const [line] = linesOf(`
      logger.warn({ userId: 'u-1', detail: 'at https://a.example/T0/key' }, 'no answer of https://b.example/x?key=y')`)
    expect(line).toMatchObject({
      userId: '***',
      detail: 'at https://a.example/…',
      msg: 'no answer of https://b.example/…',
    })
  })

  it('shows every field of an audit line', () => {
    const fields = {
      ...{ key: 'ada', role: 'operate', session: 's1', requestId: 'r1', action: 'patch_destination', result: 'ok' },
      ...{ destination: 'crm', version: 2, fields: ['sources'], dryRun: true, delivered: false },
    }
    const [line] = linesOf(`
      const { createAuditLog } = await import('${source('adapters/logger-and-audit-log.ts')}')
      createAuditLog()(${JSON.stringify(fields)})`)
    expect(line).toMatchObject({ audit: true, ...fields })
  })

  it('changes its level at runtime', () => {
    const lines = linesOf(`
      logger.debug({}, 'before')
      logger.level = 'debug'
      logger.debug({}, 'during')
      if (logger.isLevelEnabled('debug')) logger.level = 'error'
      logger.warn({}, 'after')`)
    expect(lines.map(({ msg }) => msg)).toEqual(['during'])
  })

  it.each([
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
  ])('at level %s has %i of four lines', (level, count) => {
    expect(linesAt(level)).toHaveLength(count)
  })
})

describe('a log that cannot be written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookline-logger-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const line = 'x'.repeat(300)
  const lostLine = (count: unknown, error: string) => ({
    ...{ level: 'error', time: expect.any(String), count, error },
    msg: expect.stringContaining('could not write them to stderr'),
  })

  /** Runs a script whose stderr is a file. Files are limited to `blocks` blocks of 512 bytes. */
  function logOf(name: string, doing: string, blocks = 'unlimited'): { status: number | null; log: string } {
    const path = join(folder, name)
    const file = openSync(path, 'a')
    const script = scriptOf(
      `import { closeSync, openSync, truncateSync } from 'node:fs'; const path = '${path}'; ${doing}`,
    )
    const words = [process.execPath, '--input-type=module', '--eval', script]
    const { status } = spawnSync('sh', ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', ...words], {
      stdio: ['ignore', 'ignore', file],
    })
    closeSync(file)
    return { status, log: readFileSync(path, 'utf8') }
  }

  it('loses lines without an error, and then logs their number', () => {
    const { status, log } = logOf(
      'closed',
      `
      closeSync(2)
      logger.warn({}, 'first')
      logger.warn({}, 'second')
      openSync(path, 'a') // This file gets the free number 2.
      logger.warn({}, 'third')
      logger.warn({}, 'fourth')`,
    )
    expect(status).toBe(0)
    expect(
      log
        .split('\n')
        .filter(Boolean)
        .map(each => JSON.parse(each)),
    ).toEqual([
      expect.objectContaining({ msg: 'third' }),
      lostLine(2, 'EBADF'),
      expect.objectContaining({ msg: 'fourth' }),
    ])
  })

  it('ends a line of which only the beginning was written before the next line', () => {
    const { status, log } = logOf(
      'limited',
      `
      for (let count = 0; count < 10; count++) logger.warn({}, '${line}')
      truncateSync(path, 5)
      logger.warn({}, 'after')`,
      '2',
    )
    expect(status).toBe(0)
    const [torn, ...whole] = log.split('\n').filter(Boolean)
    expect(torn).toBe('{"lev')
    expect(whole.map(each => JSON.parse(each))).toEqual([
      expect.objectContaining({ msg: 'after' }),
      lostLine(expect.any(Number), 'EFBIG'),
    ])
  })
})
