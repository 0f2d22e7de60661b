/** A component of the machine, as reported by the agent. */
import type { MachineComponentReport } from '../../api/generated/types.ts';
import { COMPONENT_NAME } from '../../api/patterns.ts';
import {
  BOOLEAN_FIELD,
  createEnumField,
  createFields,
  createParams,
  type FactKind,
  RATE_FIELD,
  SECONDS_FIELD,
  TEXT_FIELD,
} from './field.ts';

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

export const componentFact = {
  name: 'component',
  source: 'Machine.status.components, by the agent',
  maxAge: { heartbeats: 3 },
  params: createParams({ name: { type: 'text', pattern: COMPONENT_NAME, max: 63 } }),
  fields: createFields({
    state: createEnumField(Object.keys(STATES) as State[]),
    version: TEXT_FIELD,
    ready: BOOLEAN_FIELD,
    restartsPerHour: RATE_FIELD,
    failedSeconds: SECONDS_FIELD,
  }),
} satisfies FactKind;
