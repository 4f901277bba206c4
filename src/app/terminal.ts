import { Presets, SingleBar } from 'cli-progress'
import type { CommandIo } from './command.ts'

/** Text from outside, fit for one line on a terminal: what could steer the terminal or break the line becomes U+FFFD. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
}

/** Lines of a table: columns as wide as their widest cell, two spaces apart. Cells may be text from outside. */
export function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [titles, ...rows.map(row => row.map(printable))]
  const widths = titles.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  return lines.map(line =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** How far a command has got, in one line on stderr that goes away when it ends. */
export interface ProgressBar {
  /** Shows it; again with another total: begins anew. */
  start(total: number, fields?: Fields): void
  update(value: number, fields?: Fields): void
  stop(): void
}

/** What the format names besides what cli-progress knows. */
type Fields = Readonly<Record<string, string | number>>

/** Undefined where nobody would see it, or a program reads: no terminal, or `--json`. `format` is cli-progress's. */
export function createProgressBar(
  { stderr }: CommandIo,
  { json }: { readonly json?: boolean },
  format: string,
): ProgressBar | undefined {
  if (stderr.isTTY !== true || json === true) return undefined
  const bar = new SingleBar(
    {
      stream: stderr,
      format,
      clearOnComplete: true,
      // Things come in bursts, which a shorter memory would take for the speed of all.
      etaBuffer: 2_000,
      // Signals are ours: what is under way ends first.
      gracefulExit: false,
    },
    Presets.shades_classic,
  )
  return {
    start: (total, fields) => bar.start(total, 0, fields),
    update: (value, fields) => bar.update(value, fields),
    stop: () => bar.stop(),
  }
}
