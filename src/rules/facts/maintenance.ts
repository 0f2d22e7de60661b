/** Describes the fact of what is announced for the machine: its earliest event that is not over. */
import { DECIDED, NO_OUTAGES, OUTAGES } from '../../api/enums.ts';
import {
  BOOLEAN_FIELD,
  COUNTDOWN_FIELD,
  createEnumField,
  createFields,
  createParams,
  type FactKind,
} from './field.ts';

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
