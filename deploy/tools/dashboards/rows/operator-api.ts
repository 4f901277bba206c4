import { responseColours } from '../colours.ts'
import type { Row } from '../panel.ts'
import { increaseBy, rateBy, selector } from '../queries.ts'

export const operatorApi: Row = {
  title: 'Operator API and notices',
  panels: [
    {
      title: 'Responses of the operator API',
      description:
        'Responses of the operator API and of the console, by code, see docs/reference/operator-api.md. invalid_operator_key: a request had a wrong key. rate_limited: there were too many wrong keys. unavailable: usually, Kafka is the cause. internal_error: Hookline has a bug.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      colours: responseColours,
      queries: [{ expr: rateBy('code', 'hookline_operator_answers_total'), legend: '{{code}}' }],
    },
    {
      title: 'Replays and resends',
      description:
        'Replays and resends of the operator API: those that wait or run now, and those that failed or were taken over in each interval. A process takes over a job whose process recorded no progress. The page "Jobs" of the console shows details.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: `max by (kind, state) (${selector('hookline_jobs')})`, legend: '{{kind}} {{state}}' },
        {
          expr: increaseBy('kind', 'hookline_jobs_ended_total', 'state="failed"'),
          legend: '{{kind}} failed',
        },
        { expr: increaseBy('kind', 'hookline_jobs_taken_over_total'), legend: '{{kind}} taken over' },
      ],
    },
    {
      title: 'Missing notices and records',
      description:
        'Notices and records for operators that Hookline could not write. Deliveries are not affected. attempts: records for the console and "hookline tail". status: records for the console, which may show an old status. rejected messages: copies for the topic of rejected messages. spans: parts of traces.',
      unit: 'cps',
      as: 'lines',
      width: 8,
      queries: [
        { expr: rateBy('', 'hookline_notices_total', 'result="dropped"'), legend: 'notices' },
        { expr: rateBy('', 'hookline_attempt_records_total', 'result!="written"'), legend: 'attempts' },
        { expr: rateBy('', 'hookline_status_records_total', 'result="failed"'), legend: 'status' },
        { expr: rateBy('', 'hookline_collector_rejects_lost_total'), legend: 'rejected messages' },
        { expr: rateBy('', 'hookline_spans_lost_total'), legend: 'spans' },
      ],
    },
  ],
}
