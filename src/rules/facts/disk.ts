/** The usage of a file system, as measured by the agent. */
import type { Pattern } from '../../api/patterns.ts';
import { textAt } from '../../kube/objects/json.ts';
import { ageMsAt } from '../clocks/time-point.ts';
import type { FactKind } from './fact.ts';
import { COUNT_FIELD, createFields, createParams, PERCENT_FIELD, STATE_SECONDS_FIELD } from './field.ts';
import { atLeastSome, createAgentReports } from './reading/agent-reports.ts';
import { knownAnswer, type ReadFact } from './reading/answer.ts';

const FILESYSTEM: Pattern = {
  // Paths are normalized: no empty part, no "." and no "..".
  regex: '^(nodefs|imagefs|/|(/(?![.]{1,2}(/|$))[A-Za-z0-9._@%+:-]+)+)$',
  description: 'nodefs, imagefs, or the absolute path of a mount such as /var/log',
};

const fields = createFields({
  usedPercent: PERCENT_FIELD,
  inodesUsedPercent: PERCENT_FIELD,
  risingSeconds: STATE_SECONDS_FIELD,
  reclaimableBytes: COUNT_FIELD,
});
const reports = createAgentReports('file system', 'filesystem', ['status', 'facts', 'disk']);

const read: ReadFact = (snapshot, params, maxAgeMs) =>
  reports.read(snapshot, maxAgeMs, String(params['filesystem']), (entry, leftMs) => {
    const since = entry['risingSince'];
    const risingMs = ageMsAt(snapshot.point, textAt(entry, 'risingSince'));
    const rising = risingMs === undefined ? undefined : atLeastSome(risingMs);
    const risingSeconds = since === undefined ? 0 : rising;
    return knownAnswer(fields, { ...entry, risingSeconds }, leftMs);
  });

export const diskFact = {
  name: 'disk',
  source: 'Machine.status.facts.disk, by the agent',
  maxAge: { heartbeats: 3 },
  heartbeats: ['Agent'],
  params: createParams({ filesystem: { type: 'text', pattern: FILESYSTEM, max: 128 } }),
  fields,
  read,
  changes: { machines: reports.changes },
  recorded: { machines: { status: { facts: { disk: true } } } },
} satisfies FactKind;
