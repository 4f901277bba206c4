import { spawnSync } from 'node:child_process'
import { describe, expect, it } from '@jest/globals'

const source = (file: string): string => new URL(`../../../src/${file}`, import.meta.url).href

/** The lines on stderr of a process that logs one line at each level. */
function linesAt(level: string): readonly Record<string, unknown>[] {
  return linesOf(
    `
    for (const each of ['debug', 'info', 'warn', 'error']) logger[each]({ destination: 'crm', secret: new Secret('hidden') }, each + ' line')`,
    level,
  )
}

/** The lines on stderr of a process that creates `logger` and then runs the code in `doing`. */
function linesOf(doing: string, level = 'info'): readonly Record<string, unknown>[] {
  const script = `
    import { createLogger } from '${source('adapters/logger.ts')}'
    import { Secret } from '${source('core/secret.ts')}'
    const logger = createLogger('${level}')
    ${doing}`
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
      const { createAuditLog } = await import('${source('adapters/logger.ts')}')
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
