/** The dashboard of agents: whether they report, and what those do that Prometheus scrapes. */
import {
  AGENT_API_ONLINE,
  AGENT_COMPONENT_READY,
  AGENT_CORRECTIONS,
  AGENT_MEMORY,
  AGENT_RECONCILE_SECONDS,
  AGENT_RECONCILES,
  AGENT_TRANSITIONS,
} from '../metrics/agent.ts';
import { AGENT_CERTIFICATE_END, AGENTS_BY_STATE, CERTIFICATE_REQUEST_DECISIONS } from '../metrics/machine.ts';
import { shareOfObjective } from './objectives.ts';
import { badFrom, type Dashboard, goodFrom, now, trend } from './panel.ts';
import { events, highest, lowest, RESOLUTION, series, total, zeroWhile } from './promql.ts';
import { UIDS } from './uids.ts';

function agents(state: 'Reporting' | 'Silent' | 'Joining'): string {
  return total(AGENTS_BY_STATE, { where: { state } });
}

const DAY_SECONDS = 86_400;

export const AGENTS_DASHBOARD: Dashboard = {
  uid: UIDS.agents,
  title: 'kubenode / Agents',
  description:
    'The agents of the chosen clusters. What concerns all of them is counted centrally; the last rows need a Prometheus that scrapes agents.',
  hasClusters: true,
  rows: [
    {
      question: 'Do the agents report?',
      panels: [
        now(
          {
            title: 'Reporting, of those that joined',
            description: 'The objective agents-reporting.',
            unit: 'percentunit',
            thresholds: shareOfObjective('agents-reporting'),
          },
          `${agents('Reporting')} / ${total(AGENTS_BY_STATE, { where: { state: ['Reporting', 'Silent'] } })}`,
        ),
        now({ title: 'Reporting', description: 'They renew their Lease.' }, agents('Reporting')),
        now(
          {
            title: 'Silent',
            description:
              'They stopped renewing their Lease. Components go on running; the agent repairs nothing.',
            thresholds: badFrom(1, 10),
            seeUid: UIDS.cluster,
          },
          agents('Silent'),
        ),
        now({ title: 'Joining', description: 'They never reported yet.' }, agents('Joining')),
        now(
          {
            title: 'First certificate ends in',
            description: 'Agents renew their certificates long before. Below a day an alert fires.',
            unit: 's',
            thresholds: goodFrom(2 * DAY_SECONDS, DAY_SECONDS),
          },
          `${lowest(AGENT_CERTIFICATE_END)} - time()`,
        ),
        now(
          {
            title: 'Certificates denied, 24 h',
            description: 'A node asks in a name that is not its own, or with a token that has ended.',
            thresholds: badFrom(1, 100),
          },
          zeroWhile(
            'machines are counted',
            events(CERTIFICATE_REQUEST_DECISIONS, { where: { result: 'Denied' }, window: '24h' }),
          ),
        ),
      ],
    },
    {
      question: 'Since when, and where?',
      panels: [
        trend(
          { title: 'Agents by state', description: 'Over the chosen clusters.' },
          { expr: total(AGENTS_BY_STATE, { by: ['state'] }), legend: '{{state}}' },
        ),
        trend(
          { title: 'Agents silent', description: 'By cluster.', thresholds: badFrom(1) },
          {
            expr: total(AGENTS_BY_STATE, { where: { state: 'Silent' }, by: ['cluster'] }),
            legend: '{{cluster}}',
          },
        ),
        trend(
          { title: 'Certificate requests', description: 'Approved or denied, by reason.' },
          {
            expr: events(CERTIFICATE_REQUEST_DECISIONS, { by: ['result', 'reason'], window: RESOLUTION }),
            legend: '{{result}} {{reason}}',
          },
        ),
      ],
    },
    {
      question: 'What do the scraped agents do?',
      panels: [
        trend(
          { title: 'Transitions of components', description: 'By component and result.' },
          {
            expr: events(AGENT_TRANSITIONS, { by: ['component', 'result'], window: RESOLUTION }),
            legend: '{{component}} {{result}}',
          },
        ),
        trend(
          {
            title: 'Corrections of drift',
            description:
              'Files and units that others had changed. Many on one component: something else manages it, too.',
          },
          {
            expr: events(AGENT_CORRECTIONS, { by: ['component', 'kind'], window: RESOLUTION }),
            legend: '{{component}} {{kind}}',
          },
        ),
        trend(
          {
            title: 'Agents on which a component is not ready',
            description: 'By component: its processes do not run, or a probe fails.',
            thresholds: badFrom(1),
          },
          {
            expr: `count by (component) (${series(AGENT_COMPONENT_READY)}) - sum by (component) (${series(AGENT_COMPONENT_READY)})`,
            legend: '{{component}}',
          },
        ),
      ],
    },
    {
      question: 'Do the scraped agents themselves work?',
      panels: [
        trend(
          {
            title: 'Agents without their API server',
            description: 'They keep what they have.',
            thresholds: badFrom(1),
          },
          {
            expr: `count(${series(AGENT_API_ONLINE)}) - sum(${series(AGENT_API_ONLINE)})`,
            legend: 'offline',
          },
        ),
        trend(
          {
            title: 'Largest memory',
            description: 'Of one agent.',
            unit: 'bytes',
            thresholds: badFrom(128 * 1024 ** 2, 256 * 1024 ** 2),
          },
          { expr: highest(AGENT_MEMORY, { by: ['cluster'] }), legend: '{{cluster}}' },
        ),
        trend(
          { title: 'Time of a reconcile', description: 'On average over the interval.', unit: 's' },
          {
            expr: `${events(AGENT_RECONCILE_SECONDS, { window: RESOLUTION })} / (${events(AGENT_RECONCILES, { window: RESOLUTION })} > 0)`,
            legend: 'mean',
          },
        ),
      ],
    },
  ],
};
