import { changeColours, responseColours } from '../colours.ts'
import type { Row } from '../panel.ts'
import { increaseBy, quantilesOf, rateBy, secondsSince, selector } from '../queries.ts'

export const collector: Row = {
  title: 'Collector',
  panels: [
    {
      title: 'Responses of the collector',
      description:
        'Responses by code, see docs/reference/tracking-api.md. unavailable and internal_error: Hookline or Kafka is the cause. All other errors: the senders are the cause.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      colours: responseColours,
      queries: [{ expr: rateBy('code', 'hookline_collector_answers_total'), legend: '{{code}}' }],
    },
    {
      title: 'Time to store messages',
      description:
        'Time until Kafka has acknowledged all messages of a request. After 10 s the collector refuses the request.',
      unit: 's',
      as: 'lines',
      width: 12,
      queries: quantilesOf('hookline_collector_store_seconds'),
      bad: { from: 10 },
    },
    {
      title: 'Memory of requests',
      description:
        'Memory of the collector as a share of its limit, maximum of all processes. bodies: request bodies. keyless: request bodies whose source is not known yet. records: accepted messages that Kafka has not acknowledged. rejected: rejected messages that are being written to Kafka. At a limit, the collector responds with 503 or, for rejected, does not write these messages.',
      unit: 'percentunit',
      as: 'lines',
      width: 12,
      max: 1,
      queries: [
        {
          expr: `max by (what) (${selector('hookline_collector_held_bytes')} / ${selector('hookline_collector_held_bytes_limit')})`,
          legend: '{{what}}',
        },
      ],
      bad: { from: 0.9 },
    },
    {
      title: 'Refused request bodies',
      description:
        'Request bodies and connections that the collector refused or closed, by cause. budget: the memory was full, or a client did not read its response. address: a client address has reached its limit. slow: the body arrived too slowly. connections: a client address or the process has too many connections.',
      unit: 'cps',
      as: 'lines',
      width: 12,
      queries: [{ expr: rateBy('cause', 'hookline_collector_bodies_refused_total'), legend: '{{cause}}' }],
    },
  ],
}

export const configuration: Row = {
  title: 'Configuration',
  panels: [
    {
      title: 'Destinations',
      description:
        'Destinations of the current configuration by state. Messages of a paused destination wait until their retry window is over, at most four hours, or 52 hours with lifecycle.pauseKeepsWindow. Then they are dead-lettered.',
      unit: 'short',
      as: 'number',
      width: 8,
      queries: [{ expr: `max by (state) (${selector('hookline_destinations')})`, legend: '{{state}}' }],
    },
    {
      title: 'Configurations in use',
      description:
        'Number of different configurations that processes use. If it stays above one, some processes have not applied the last change.',
      unit: 'short',
      as: 'number',
      width: 4,
      queries: [{ expr: `count(count by (hash) (${selector('hookline_config_info')}))`, legend: 'configurations' }],
      bad: { from: 2 },
    },
    {
      title: 'Age of the configuration',
      description: 'Time since a process last applied a configuration, at its start or after a change.',
      unit: 's',
      as: 'number',
      width: 4,
      queries: [
        { expr: `min(${secondsSince('hookline_config_last_reload_success_timestamp_seconds')})`, legend: 'age' },
      ],
    },
    {
      title: 'Configuration reloads',
      description:
        'Changed configurations that processes applied or refused. The line "files in use" is 0 while at least one process refuses the current files.',
      unit: 'short',
      as: 'lines',
      width: 8,
      colours: changeColours,
      queries: [
        { expr: increaseBy('result', 'hookline_config_reloads_total'), legend: '{{result}}' },
        {
          expr: `min(${selector('hookline_config_last_reload_successful')})`,
          legend: 'files in use (1: yes, 0: refused)',
        },
      ],
    },
    {
      title: 'Excluded files and objects',
      description:
        'Destinations and sources that a process cannot read or use, maximum of all processes. files: files of destinationsFrom. objects: destinations and sources of the operator API. Their messages wait or are lost: see the runbook HooklineDestinationsExcluded.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `max(${selector('hookline_config_excluded_files')})`, legend: 'files' },
        { expr: `max(${selector('hookline_config_objects', 'state="excluded"')})`, legend: 'objects' },
      ],
      bad: { from: 1 },
    },
    {
      title: 'Objects of the operator API',
      description:
        'Destinations and sources that were created through the operator API, maximum of all processes. used: processes use them. also in the file: the configuration file defines them too, and Hookline uses the file. old key: a secret is not encrypted with the first key of operator.encryptionKeyFile.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `max(${selector('hookline_config_objects', 'state="used"')})`, legend: 'used' },
        { expr: `max(${selector('hookline_config_conflicts')})`, legend: 'also in the file' },
        { expr: `max(${selector('hookline_config_objects_old_key')})`, legend: 'old key' },
      ],
    },
    {
      title: 'Age of the objects',
      description:
        'Time since each process last read the config topic to its end. The topic has the destinations and sources of the operator API. About a second is normal. If the time grows, the process cannot read the config topic. 0 means that the installation has no config topic.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [{ expr: selector('hookline_config_objects_age_seconds'), legend: '{{instance}}' }],
      bad: { from: 60 },
    },
  ],
}
