/** A probe of the agent: hung tasks, pressure, the runtime, DNS. */
import { COMPONENT_NAME } from '../../api/patterns.ts';
import { createEnumField, createFields, createParams, type FactKind, SECONDS_FIELD } from './field.ts';

export const probeFact = {
  name: 'probe',
  source: 'Machine.status.facts.probes, by the agent',
  maxAge: { heartbeats: 3 },
  params: createParams({ name: { type: 'text', pattern: COMPONENT_NAME, max: 63 } }),
  fields: createFields({ result: createEnumField(['Pass', 'Fail']), ageSeconds: SECONDS_FIELD }),
} satisfies FactKind;
