/** How full a file system is, as the agent measures it. */
import type { Pattern } from '../../api/patterns.ts';
import { count, type FactKind, fieldsOf, paramsOf, percent, seconds } from './fact.ts';

const FILESYSTEM: Pattern = {
  // A path has no empty part, no "." and no "..": there is one way to write it.
  regex: '^(nodefs|imagefs|/|(/(?![.]{1,2}(/|$))[A-Za-z0-9._@%+:-]+)+)$',
  words: 'nodefs, imagefs, or the absolute path of a mount such as /var/log',
};

export const disk: FactKind = {
  name: 'disk',
  source: 'Machine.status.facts.disk, by the agent',
  maxAge: { heartbeats: 3 },
  params: paramsOf({ filesystem: { type: 'text', pattern: FILESYSTEM, max: 128 } }),
  fields: fieldsOf({
    usedPercent: percent,
    inodesUsedPercent: percent,
    risingSeconds: seconds,
    reclaimableBytes: count,
  }),
};
