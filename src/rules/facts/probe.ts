/** A probe of the agent: tasks that hang, pressure, the runtime, DNS. */
import { COMPONENT_NAME } from '../../api/patterns.ts';
import { type FactKind, fieldsOf, oneOf, paramsOf, seconds } from './fact.ts';

export const probe: FactKind = {
  name: 'probe',
  source: 'Machine.status.facts.probes, by the agent',
  maxAge: { heartbeats: 3 },
  params: paramsOf({ name: { type: 'text', pattern: COMPONENT_NAME, max: 63 } }),
  fields: fieldsOf({ result: oneOf(['Pass', 'Fail']), ageSeconds: seconds }),
};
