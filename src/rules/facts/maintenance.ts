/** What is announced for the machine: its earliest event that is not over. */
import type { MaintenanceEvent } from '../../api/generated/types.ts';
import {
  BOOLEAN_FIELD,
  COUNTDOWN_FIELD,
  createEnumField,
  createFields,
  createParams,
  type FactKind,
} from './fact.ts';

type EventType = MaintenanceEvent['spec']['type'];
type EventState = MaintenanceEvent['spec']['state'];

/** What the pods of the machine do not survive. */
export const OUTAGES = ['Reboot', 'Stop', 'Redeploy', 'Preempt'] as const satisfies readonly EventType[];
export const NO_OUTAGES = [
  'Freeze',
  'Network',
  'DiskFault',
  'GPUFault',
  'MemoryFault',
  'Degraded',
  'Other',
] as const satisfies readonly EventType[];
/** An event that is inquired may never come. */
export const DECIDED = ['Scheduled', 'Executing'] as const satisfies readonly EventState[];

export const maintenanceFact = {
  name: 'maintenance',
  source: 'MaintenanceEvents of the machine that are not over',
  maxAge: 'OurWatch',
  params: createParams({}),
  fields: createFields({
    pending: BOOLEAN_FIELD,
    type: createEnumField([...OUTAGES, ...NO_OUTAGES]),
    state: createEnumField(['Inquiring', ...DECIDED]),
    hint: BOOLEAN_FIELD,
    secondsUntilNotBefore: COUNTDOWN_FIELD,
    secondsUntilAct: COUNTDOWN_FIELD,
  }),
} satisfies FactKind;
