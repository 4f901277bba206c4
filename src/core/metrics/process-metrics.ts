import { counter, gauge, openLabels } from './spec.ts'

const { check } = openLabels

/** The process itself. */
export const processMetrics = {
  build: gauge('hookline_build_info', 'Always 1; its labels say what runs.', {
    unit: 'state',
    use: 'alert',
    labels: {
      version: { values: 'the version of Hookline', folds: false },
      node: { values: 'the version of Node', folds: false },
    },
  }),
  checks: gauge('hookline_check_ok', '1 while a check of the probe holds.', {
    unit: 'state',
    use: 'alert',
    labels: { probe: ['live', 'ready'], check },
  }),
  configReloads: counter('hookline_config_reloads_total', 'Changed configurations, by what became of them.', {
    unit: 'changes',
    use: 'dashboard',
    labels: { result: ['applied', 'refused'] },
  }),
  configReloadOk: gauge(
    'hookline_config_last_reload_successful',
    '0 while the file is not what is in use, because it was refused.',
    { unit: 'state', use: 'alert' },
  ),
  configReloadTime: gauge(
    'hookline_config_last_reload_success_timestamp_seconds',
    'When the configuration in use was taken over.',
    { unit: 'Unix time', use: 'dashboard' },
  ),
  configExcluded: gauge(
    'hookline_config_excluded_files',
    'Files of destinationsFrom that cannot be used or are missing; everything else is in use.',
    { unit: 'files', use: 'alert' },
  ),
  config: gauge(
    'hookline_config_info',
    'Always 1; processes of one configuration have the same hash. Secrets are not in it.',
    {
      unit: 'state',
      use: 'alert',
      labels: { hash: { values: 'the first eight hex digits of a SHA-256', folds: false } },
    },
  ),
  logLines: counter('hookline_log_lines_total', 'Lines of the log that somebody should read.', {
    unit: 'lines',
    use: 'dashboard',
    labels: { level: ['warn', 'error'] },
  }),
  spansLost: counter(
    'hookline_spans_lost_total',
    'Spans of traces that did not get to where traces are kept: there was no room to hold them, or they could not be sent.',
    { unit: 'spans', use: 'debug', labels: { reason: ['queue_full', 'not_sent'] } },
  ),
  clockOffset: gauge(
    'hookline_clock_offset_seconds',
    'How far the machine’s clock is ahead of the brokers’, by which the process goes; 0 within half a second of it.',
    { unit: 'seconds', use: 'alert' },
  ),
  series: gauge('hookline_metrics_series', 'Series with labels from the configuration that this process exposes.', {
    unit: 'series',
    use: 'dashboard',
  }),
  seriesFolded: counter(
    'hookline_metrics_series_folded_total',
    'Sets of label values that there was no room for: they are counted under `_other`.',
    { unit: 'series', use: 'alert' },
  ),
} as const
