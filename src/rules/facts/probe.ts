/** A probe of the agent: hung tasks, pressure, the runtime, DNS. */
import { COMPONENT_NAME } from '../../api/patterns.ts';
import { textAt } from '../../kube/objects/json.ts';
import { ageSecondsAt } from '../clocks/time-point.ts';
import type { FactKind } from './fact.ts';
import { createEnumField, createFields, createParams, SECONDS_FIELD } from './field.ts';
import { createAgentReports } from './reading/agent-reports.ts';
import { knownAnswer, type ReadFact } from './reading/answer.ts';

const fields = createFields({ result: createEnumField(['Pass', 'Fail']), ageSeconds: SECONDS_FIELD });
const reports = createAgentReports('probe', 'name', ['status', 'facts', 'probes']);

const read: ReadFact = (snapshot, params, maxAgeMs) =>
  reports.read(snapshot, maxAgeMs, String(params['name']), (entry, leftMs) => {
    const ageSeconds = ageSecondsAt(snapshot.point, textAt(entry, 'at'));
    return knownAnswer(fields, { result: entry['result'], ageSeconds }, leftMs);
  });

export const probeFact = {
  name: 'probe',
  source: 'Machine.status.facts.probes, by the agent',
  maxAge: { heartbeats: 3 },
  heartbeats: ['Agent'],
  params: createParams({ name: { type: 'text', pattern: COMPONENT_NAME, max: 63 } }),
  fields,
  read,
  changes: { machines: reports.changes },
  recorded: { machines: { status: { facts: { probes: true } } } },
} satisfies FactKind;
