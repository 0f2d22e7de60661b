/** The dashboard of repairs and the Defender: which faults there are, how fast they are healed, and what denies a repair. */
import { DENY_REASONS } from '../../api/deny-reasons.ts';
import {
  DEFENDER_ASK_SECONDS,
  DEFENDER_BREAKERS,
  DEFENDER_DARK_ZONES,
  DEFENDER_DECISIONS,
  DEFENDER_GRANTS,
  DEFENDER_LEDGER_CONFLICTS,
  DEFENDER_LEDGER_FAILING,
  DEFENDER_RULE_WAVES,
  DEFENDER_UNRECORDED,
  DEFENDER_USAGE,
} from '../metrics/defender.ts';
import {
  MACHINE_REPAIRS,
  NOTICES,
  REMEDY_DECISION,
  REMEDY_DENIED_SECONDS,
  REMEDY_DETECTION,
  REMEDY_FAULTS,
  REMEDY_FIRST_STEP,
  REMEDY_HEALING,
  REMEDY_JOBS,
  REMEDY_REPEATS,
  REMEDY_WAITING,
} from '../metrics/repair.ts';
import { withinObjective } from './objectives.ts';
import { badFrom, bars, type Dashboard, now, table, trend } from './panel.ts';
import { events, highest, quantile, RESOLUTION, total, zeroWhile } from './promql.ts';
import { UIDS } from './uids.ts';

/** Repairs are rare: a point is of the hour before it. */
const HOUR = { window: '1h' };
const DAY = { window: '24h' };
const FAILED = ['Transient', 'Permanent', 'Ambiguous', 'HandedOff'];

export const REPAIRS_DASHBOARD: Dashboard = {
  uid: UIDS.repairs,
  title: 'kubenode / Repairs and Defender',
  description: 'Faults of machines in the chosen clusters, their repairs, and what the Defender permits.',
  hasClusters: true,
  rows: [
    {
      question: 'Does the fleet heal itself?',
      panels: [
        now(
          {
            title: 'Faults that wait',
            description: 'Machines on which a rule found a fault and does not repair it.',
            thresholds: badFrom(1, 10),
          },
          zeroWhile('machines are counted', total(REMEDY_WAITING)),
        ),
        now(
          {
            title: 'Longest denial',
            description: 'How long a machine has waited for a grant. After an hour an alert fires.',
            unit: 's',
            thresholds: badFrom(600, 3600),
          },
          zeroWhile('machines are counted', highest(REMEDY_DENIED_SECONDS)),
        ),
        now(
          {
            title: 'Breakers open',
            description: 'Close one by kubenode defender close after its cause is understood.',
            thresholds: badFrom(1),
          },
          zeroWhile(
            'machines are counted',
            `count(${highest(DEFENDER_BREAKERS, { by: ['cluster', 'name', 'key'] })} >= 2)`,
          ),
        ),
        now(
          {
            title: 'Dark zones',
            description:
              'So many nodes are not Ready there that nothing disruptive is done. No data: no DefenderPolicy is valid, or the nodes are not known.',
            thresholds: badFrom(1),
          },
          total(DEFENDER_DARK_ZONES),
        ),
        now(
          {
            title: 'Ledger not written',
            description: 'Since when the Defender cannot write its ledger. Then it denies everything.',
            unit: 's',
            thresholds: badFrom(1, 60),
          },
          highest(DEFENDER_LEDGER_FAILING),
        ),
        now(
          {
            title: 'Repairs that failed, 24 h',
            description: 'Jobs that did not heal their machine. The ladder goes on, or a person has it.',
            thresholds: badFrom(1, 10),
          },
          zeroWhile('machines are counted', events(REMEDY_JOBS, { where: { outcome: FAILED }, ...DAY })),
        ),
      ],
    },
    {
      question: 'What breaks, and what is done about it?',
      panels: [
        trend(
          {
            title: 'Faults found',
            description: 'By rule and class of the fault, in the hour before each point.',
          },
          { expr: events(REMEDY_FAULTS, { by: ['rule', 'fault'], ...HOUR }), legend: '{{rule}} {{fault}}' },
        ),
        trend(
          { title: 'Repairs that ended', description: 'By outcome, in the hour before each point.' },
          { expr: events(REMEDY_JOBS, { by: ['outcome'], ...HOUR }), legend: '{{outcome}}' },
        ),
        trend(
          {
            title: 'Repeated repairs',
            description:
              'The same rule had repaired the machine within 7 days: look for the cause, or replace it.',
          },
          { expr: events(REMEDY_REPEATS, { by: ['rule'], ...DAY }), legend: '{{rule}}' },
        ),
        trend(
          {
            title: 'Notices to people',
            description:
              'What was sent to the receivers of --notifications, in the hour before each point. What is not delivered is sent again.',
          },
          {
            expr: events(NOTICES, { by: ['receiver', 'outcome'], ...HOUR }),
            legend: '{{receiver}} {{outcome}}',
          },
        ),
      ],
    },
    {
      question: 'How fast is it?',
      panels: [
        trend(
          {
            title: 'Fault to match, p95',
            description:
              'From the start of the fault until its rule matched. Rules wait as long as their authors chose.',
            unit: 's',
          },
          { expr: quantile(0.95, REMEDY_DETECTION, { by: ['rule'], ...HOUR }), legend: '{{rule}}' },
        ),
        trend(
          {
            title: 'Match to decision, p95',
            description: 'The objective fault-to-decision; then until the first step began.',
            unit: 's',
            thresholds: withinObjective('fault-to-decision'),
          },
          { expr: quantile(0.95, REMEDY_DECISION, HOUR), legend: 'grant' },
          { expr: quantile(0.95, REMEDY_FIRST_STEP, HOUR), legend: 'first step' },
        ),
        trend(
          {
            title: 'Match to healed, p95',
            description: 'The objective fault-to-healed, by rule.',
            unit: 's',
            thresholds: withinObjective('fault-to-healed'),
          },
          { expr: quantile(0.95, REMEDY_HEALING, { by: ['rule'], ...HOUR }), legend: '{{rule}}' },
        ),
      ],
    },
    {
      question: 'What stops a repair, and which machines need a person?',
      panels: [
        table(
          {
            title: 'Machines that wait',
            description: 'By rule and reason. docs/runbooks/denials.md has each reason of the Defender.',
          },
          total(REMEDY_WAITING, { by: ['cluster', 'rule', 'reason'] }),
        ),
        table(
          {
            title: 'Worst machines',
            description:
              'Repaired twice or more within seven days. A part of such a machine is about to fail for good: look at its repairs, and replace it.',
            thresholds: badFrom(3, 5),
          },
          `${highest(MACHINE_REPAIRS, { by: ['cluster', 'machine'] })} > 1`,
        ),
        trend(
          {
            title: 'Denials',
            description:
              'Asks and renewals that were denied, by reason. An ask is repeated until it is granted.',
          },
          {
            expr: events(DEFENDER_DECISIONS, {
              where: { reason: DENY_REASONS },
              by: ['reason'],
              window: RESOLUTION,
            }),
            legend: '{{reason}}',
          },
        ),
        bars(
          {
            title: 'Fullest limits',
            description: 'The used share of each limit. A full one denies.',
            unit: 'percentunit',
            thresholds: badFrom(0.8, 1),
          },
          {
            expr: highest(DEFENDER_USAGE, { by: ['cluster', 'per', 'key'] }),
            legend: '{{cluster}} {{per}} {{key}}',
          },
        ),
      ],
    },
    {
      question: 'Does the Defender work?',
      panels: [
        trend(
          {
            title: 'Grants',
            description: 'Suspect: started, past its end, and not settled. It keeps its slot until it is.',
          },
          {
            expr: total(DEFENDER_GRANTS, {
              where: { state: ['Granted', 'Started', 'Suspect'] },
              by: ['state'],
            }),
            legend: '{{state}}',
          },
        ),
        trend(
          {
            title: 'Time to an answer, p99',
            description: 'An ask waits up to 50 ms for others.',
            unit: 's',
            thresholds: badFrom(1, 10),
          },
          { expr: quantile(0.99, DEFENDER_ASK_SECONDS, { window: RESOLUTION }), legend: 'p99' },
        ),
        trend(
          {
            title: 'Conflicts of the ledger',
            description: 'Writes that another process made void. They are repeated.',
          },
          { expr: events(DEFENDER_LEDGER_CONFLICTS, { window: RESOLUTION }), legend: 'conflicts' },
        ),
        trend(
          {
            title: 'Acts that are not recorded',
            description: 'Waiting: written to the audit record with the next append. Dropped: never written.',
            thresholds: badFrom(1),
          },
          { expr: total(DEFENDER_UNRECORDED, { by: ['state'] }), legend: '{{state}}' },
        ),
      ],
    },
    {
      question: 'What does the Defender hold back?',
      panels: [
        table(
          {
            title: 'Breakers that are not closed',
            description: 'A breaker in state half open tries one repair.',
            words: { 1: 'half open', 2: 'open', 3: 'waits for a person' },
          },
          highest(DEFENDER_BREAKERS, { by: ['cluster', 'name', 'key'] }),
        ),
        table(
          {
            title: 'Rules that are not proven',
            description: 'The wave of each. Failed: too many repairs failed, and the rule is held.',
          },
          highest(DEFENDER_RULE_WAVES, { by: ['cluster', 'rule', 'state'] }),
        ),
      ],
    },
  ],
};
