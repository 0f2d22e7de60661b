/** A component of the machine, as reported by the agent. */
import type { MachineComponentReport } from '../../api/generated/types.ts';
import { COMPONENT_NAME } from '../../api/patterns.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { ComponentHistory } from '../clocks/component-clock.ts';
import { HOUR_MS } from '../clocks/condition-clock.ts';
import type { TimePoint } from '../clocks/time-point.ts';
import type { FactKind } from './fact.ts';
import {
  BOOLEAN_FIELD,
  createEnumField,
  createFields,
  createParams,
  RATE_FIELD,
  STATE_SECONDS_FIELD,
  TEXT_FIELD,
} from './field.ts';
import { atLeastSome, createAgentReports } from './reading/agent-reports.ts';
import { knownAnswer, type ReadFact } from './reading/answer.ts';

type State = NonNullable<MachineComponentReport['state']>;

/** Every state of the API: the type requires all of them. */
const STATES: Readonly<Record<State, true>> = {
  Absent: true,
  Fetching: true,
  Staged: true,
  WaitingForGrant: true,
  WaitingForDrain: true,
  Activating: true,
  Probation: true,
  Committed: true,
  RollingBack: true,
  RolledBack: true,
  Failed: true,
  Blocked: true,
  Orphaned: true,
};

const fields = createFields({
  state: createEnumField(Object.keys(STATES) as State[]),
  version: TEXT_FIELD,
  ready: BOOLEAN_FIELD,
  restartsPerHour: RATE_FIELD,
  failedSeconds: STATE_SECONDS_FIELD,
});
const reports = createAgentReports('component', 'name', ['status', 'components']);

const read: ReadFact = (snapshot, params, maxAgeMs) => {
  const name = String(params['name']);
  return reports.read(snapshot, maxAgeMs, name, (entry, leftMs) => {
    const { point, find, components } = snapshot;
    const { state, ready } = entry;
    const record = components?.get(name);
    const { restartsPerHour, changesInMs } = restartsOf(record, point);
    const version = find('components', textAt(entry, 'currentRef') ?? '')?.spec.version;
    const failedSeconds = record?.failedMs === undefined ? 0 : atLeastSome(point.ms - record.failedMs);
    const values = { state, ready, version, restartsPerHour, failedSeconds };
    return knownAnswer(fields, values, Math.min(leftMs, changesInMs));
  });
};

interface Restarts {
  readonly restartsPerHour?: number;
  readonly changesInMs: number;
}

function restartsOf(record: ComponentHistory | undefined, { ms }: TimePoint): Restarts {
  if (!record) return { changesInMs: Infinity };
  const endsInMs = (from: number): number => from + HOUR_MS - ms;
  if (endsInMs(record.completeMs) > 0) return { changesInMs: endsInMs(record.completeMs) };
  const recent = record.restarted.filter((each) => endsInMs(each.ms) > 0);
  const restartsPerHour = recent.reduce((sum, { count }) => sum + count, 0);
  return { restartsPerHour, changesInMs: endsInMs(recent[0]?.ms ?? Infinity) };
}

export const componentFact = {
  name: 'component',
  source: 'Machine.status.components, by the agent',
  maxAge: { heartbeats: 3 },
  heartbeats: ['Agent'],
  params: createParams({ name: { type: 'text', pattern: COMPONENT_NAME, max: 63 } }),
  fields,
  read,
  changes: { machines: reports.changes },
  recorded: {
    machines: {
      status: {
        components: { name: true, state: true, ready: true, restarts: true, since: true, currentRef: true },
      },
    },
    components: { spec: { version: true } },
  },
} satisfies FactKind;
