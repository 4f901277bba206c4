import type { Logger } from '../../../src/core/ports.ts'

export interface Line {
  readonly level: string
  readonly fields: Record<string, unknown>
  readonly line: string
}

/** Records every log line of every level. */
export class RecordingLogger implements Logger {
  readonly lines: Line[] = []

  isLevelEnabled(): boolean {
    return true
  }

  debug(fields: object, line: string): void {
    this.#note('debug', fields, line)
  }

  info(fields: object, line: string): void {
    this.#note('info', fields, line)
  }

  warn(fields: object, line: string): void {
    this.#note('warn', fields, line)
  }

  error(fields: object, line: string): void {
    this.#note('error', fields, line)
  }

  #note(level: string, fields: object, line: string): void {
    this.lines.push({ level, fields: fields as Record<string, unknown>, line })
  }
}
