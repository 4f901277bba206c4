import { Presets, SingleBar } from 'cli-progress'
import type { CommandIo } from './create-command.ts'

/**
 * Makes untrusted text safe for a terminal: control and format characters and line separators
 * become U+FFFD.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
}

/** Lines of a table with columns two spaces apart. Cells may hold untrusted text. */
export function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [titles, ...rows.map(row => row.map(printable))]
  // `Math.max(...lines)` throws a RangeError for more than about 120,000 lines.
  const widths = titles.map((_, column) => lines.reduce((width, line) => Math.max(width, line[column]?.length ?? 0), 0))
  return lines.map(line =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Progress of a command, in one line on stderr. */
export interface ProgressBar {
  /** Shows the bar, or restarts it with a new total. */
  start(total: number, fields?: Fields): void
  update(value: number, fields?: Fields): void
  stop(): void
}

/** Values for the placeholders that `format` defines in addition to those of cli-progress. */
type Fields = Readonly<Record<string, string | number>>

/**
 * Creates a progress bar; `undefined` when stderr is not a terminal, or with `--json`. `format` is
 * for cli-progress.
 */
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
      // The number of recent updates from which the bar estimates the remaining time. Updates come
      // in bursts. With a lower number, a single burst would determine the estimate.
      etaBuffer: 2_000,
      // The command handles signals itself, because it finishes work in progress first.
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
