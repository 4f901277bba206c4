import { changeColours, responseColours } from '../colours.ts'
import type { Row } from '../panel.ts'
import { quantilesOf, rateBy, secondsSince, selector } from '../queries.ts'

export const collector: Row = {
  title: 'Collector',
  panels: [
    {
      title: 'Responses of the collector',
      description:
        'Responses by code, see docs/reference/tracking-api.md. unavailable and internal_error: Hookline or Kafka is the cause. All other errors: the senders are the cause.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: responseColours,
      queries: [{ expr: rateBy('code', 'hookline_collector_answers_total'), legend: '{{code}}' }],
    },
    {
      title: 'Time to store messages',
      description:
        'Time until Kafka has acknowledged all messages of a request. After 10 s the collector refuses the request.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: quantilesOf('hookline_collector_store_seconds'),
      bad: { from: 10 },
    },
    {
      title: 'Memory of requests',
      description:
        'Memory of the collector that requests use, as a share of its limit, maximum of all processes. bodies: request bodies. keyless: request bodies whose source is not known yet. records: records that Kafka has not acknowledged. At the limit, the collector responds to further requests with 503 and Retry-After. One source alone (bodies), or one client address alone (keyless), may use half of the limit.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      max: 1,
      queries: [
        {
          expr: `max by (what) (${selector('hookline_collector_held_bytes')} / ${selector('hookline_collector_held_bytes_limit')})`,
          legend: '{{what}}',
        },
      ],
      bad: { from: 0.9 },
    },
  ],
}

export const configuration: Row = {
  title: 'Configuration',
  panels: [
    {
      title: 'Destinations',
      description:
        'Destinations of the current configuration by state. Messages of a paused destination wait until their retry window is over, at most four hours. Then they are dead-lettered.',
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
      description: 'Time since each process last applied a configuration, at its start or after a change.',
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
        {
          expr: `sum by (result) (increase(${selector('hookline_config_reloads_total')}[$__rate_interval]))`,
          legend: '{{result}}',
        },
        {
          expr: `min(${selector('hookline_config_last_reload_successful')})`,
          legend: 'files in use (1: yes, 0: refused)',
        },
      ],
    },
  ],
}
