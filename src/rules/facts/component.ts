/** A component of the machine, as the agent finds it. */
import type { MachineComponentReport } from '../../api/generated/types.ts';
import { COMPONENT_NAME } from '../../api/patterns.ts';
import { type FactKind, fieldsOf, oneOf, paramsOf, rate, seconds, text, truth } from './fact.ts';

type State = NonNullable<MachineComponentReport['state']>;

/** Each state of the kind and no other: the type sees to it. */
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

export const component: FactKind = {
  name: 'component',
  source: 'Machine.status.components, by the agent',
  maxAge: { heartbeats: 3 },
  params: paramsOf({ name: { type: 'text', pattern: COMPONENT_NAME, max: 63 } }),
  fields: fieldsOf({
    state: oneOf(Object.keys(STATES)),
    version: text,
    ready: truth,
    restartsPerHour: rate,
    failedSeconds: seconds,
  }),
};
