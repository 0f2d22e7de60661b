/** The usage of a file system, as measured by the agent. */
import type { Pattern } from '../../api/patterns.ts';
import {
  COUNT_FIELD,
  createFields,
  createParams,
  type FactKind,
  PERCENT_FIELD,
  SECONDS_FIELD,
} from './field.ts';

const FILESYSTEM: Pattern = {
  // Paths are normalized: no empty part, no "." and no "..".
  regex: '^(nodefs|imagefs|/|(/(?![.]{1,2}(/|$))[A-Za-z0-9._@%+:-]+)+)$',
  description: 'nodefs, imagefs, or the absolute path of a mount such as /var/log',
};

export const diskFact = {
  name: 'disk',
  source: 'Machine.status.facts.disk, by the agent',
  maxAge: { heartbeats: 3 },
  params: createParams({ filesystem: { type: 'text', pattern: FILESYSTEM, max: 128 } }),
  fields: createFields({
    usedPercent: PERCENT_FIELD,
    inodesUsedPercent: PERCENT_FIELD,
    risingSeconds: SECONDS_FIELD,
    reclaimableBytes: COUNT_FIELD,
  }),
} satisfies FactKind;
