import { counter, gauge, openLabels } from './metric-spec-builders.ts'

const { check } = openLabels

export const processMetrics = {
  build: gauge('hookline_build_info', 'Always 1. The labels contain the versions of Hookline and Node.', {
    unit: 'state',
    use: 'alert',
    labels: {
      version: { values: 'the version of Hookline', canOverflow: false },
      node: { values: 'the version of Node', canOverflow: false },
    },
  }),
  checks: gauge(
    'hookline_check_ok',
    '1 while a check of `/livez` (`live`) or `/readyz` (`ready`) passes, 0 while it fails.',
    { unit: 'state', use: 'alert', labels: { probe: ['live', 'ready'], check } },
  ),
  statusRecords: counter(
    'hookline_status_records_total',
    'Records for the status topic, by result of the write. The operator API reads the status of processes and destinations from this topic.',
    { unit: 'records', use: 'dashboard', labels: { result: ['written', 'failed'] } },
  ),
  configReloads: counter('hookline_config_reloads_total', 'Reloads of a changed configuration, by result.', {
    unit: 'changes',
    use: 'dashboard',
    labels: { result: ['applied', 'refused'] },
  }),
  configReloadOk: gauge(
    'hookline_config_last_reload_successful',
    '1 while the process uses the current configuration files, 0 while it refuses them and keeps the previous configuration.',
    { unit: 'state', use: 'alert' },
  ),
  configReloadTime: gauge(
    'hookline_config_last_reload_success_timestamp_seconds',
    'Time at which this process applied its current configuration.',
    { unit: 'Unix time', use: 'dashboard' },
  ),
  configExcluded: gauge(
    'hookline_config_excluded_files',
    'Number of files of `destinationsFrom` that this process cannot use, because they are invalid or missing, or come after the first 2,000 files of their directory. If a directory has more than 2,000 files, the value can be too low. The process uses the rest of the configuration.',
    { unit: 'files', use: 'alert' },
  ),
  configObjects: gauge(
    'hookline_config_objects',
    'Number of destinations and sources that were created through the operator API. `used`: this process uses them. `excluded`: this process cannot read or use them; the log says why.',
    { unit: 'objects', use: 'alert', labels: { state: ['used', 'excluded'] } },
  ),
  configObjectsAge: gauge(
    'hookline_config_objects_age_seconds',
    'Time since this process last read the config topic to its end. The topic has the destinations and sources of the operator API. About a second is normal. The time grows while the process cannot read the config topic. It is 0 if the installation has no config topic.',
    { unit: 'seconds', use: 'alert' },
  ),
  configConflicts: gauge(
    'hookline_config_conflicts',
    'Number of destinations and sources that both the config topic and the configuration file define. Hookline uses the definition in the file.',
    { unit: 'objects', use: 'dashboard' },
  ),
  configOldSeals: gauge(
    'hookline_config_objects_old_key',
    'Number of destinations and sources in the config topic whose secrets are not all encrypted with the first key of `operator.encryptionKeyFile`.',
    { unit: 'objects', use: 'dashboard' },
  ),
  config: gauge(
    'hookline_config_info',
    'Always 1. Processes with the same configuration have the same value of the label `hash`. Secrets do not change this value.',
    {
      unit: 'state',
      use: 'alert',
      labels: {
        hash: { values: 'the first eight hex digits of the SHA-256 of the configuration', canOverflow: false },
      },
    },
  ),
  logLines: counter(
    'hookline_log_lines_total',
    'Log lines of the levels `warn` and `error`, including lines that `log.level` excludes or that could not be written.',
    {
      unit: 'lines',
      use: 'dashboard',
      labels: { level: ['warn', 'error'] },
    },
  ),
  spansLost: counter(
    'hookline_spans_lost_total',
    'Trace spans that were not exported: the queue was full (`queue_full`) or the export failed (`not_sent`).',
    { unit: 'spans', use: 'dashboard', labels: { reason: ['queue_full', 'not_sent'] } },
  ),
  clockOffset: gauge(
    'hookline_clock_offset_seconds',
    'Offset of the machine’s clock from the clock of the Kafka brokers. Hookline uses the brokers’ clock. Positive: the machine’s clock is ahead. 0: the clocks differ by less than half a second.',
    { unit: 'seconds', use: 'alert' },
  ),
  series: gauge(
    'hookline_metrics_series',
    'Number of time series of this process that have an id from the configuration as a label value, for example the id of a destination.',
    {
      unit: 'series',
      use: 'dashboard',
    },
  ),
  seriesFolded: counter(
    'hookline_metrics_series_folded_total',
    'Number of label combinations that have no time series of their own, because `hookline_metrics_series` has reached its limit (6,000 for combinations with a webhook, 8,000 for all others). Counters add these combinations to a series with the label value `_other`. Gauges leave them out.',
    { unit: 'series', use: 'alert' },
  ),
} as const
