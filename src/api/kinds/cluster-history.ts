/** `status.sync.history` of a Cluster: the commits that ran on it. */
import { choice, digest, flag, list, named, reason, text, time } from '../schema.ts';

const COMMIT = { max: 64 } as const;
const STATES = ['Applying', 'Soaking', 'Proven', 'Failed', 'Held', 'Paused', 'Unknown'] as const;

/** 32 entries of mostly 500 bytes, and of a few KB where every text is as long as it may be. */
export const commitRuns = list(
  'The commits that ran on this cluster, newest first. An entry with endedAt does not change any more.',
  named('CommitRun', 'A commit, for as long as it was assigned to this cluster.', {
    commit: text('Commit id.', COMMIT),
    digest: digest('Digest of the objects rendered for this cluster.').optional(),
    state: choice('How far the commit was when it ended, or is now.', STATES),
    reason: reason().optional(),
    message: text('Why it failed or was held.', { max: 256 }).optional(),
    pipeline: text('Pipeline that assigned it.', { max: 63 }).optional(),
    stage: text('Stage of the cluster at that time.', { max: 63 }).optional(),
    author: text('Author of the commit.', { max: 128 }).optional(),
    subject: text('First line of the commit message.', { max: 200 }).optional(),
    startedAt: time('When it was assigned.'),
    provenAt: time('When its content was proven during this time.').optional(),
    endedAt: time('When another commit replaced it. Absent: it runs.').optional(),
    sameContentAs: text('The commit before with the same content on this cluster.', COMMIT).optional(),
    adopted: flag(
      'true: found in the inventory of the cluster. This hub did not record its assignment, and commits before it may be missing.',
    ).optional(),
    decisions: list(
      'What people decided about it: accepted heads, approvals, acknowledgements.',
      // The longest reason, unit and stage fit: truncated, a decision would be recorded again as another one.
      text('A decision, with the reason that was given.', { max: 512 }),
      [0, 4],
    ).optional(),
  }),
  [0, 32],
);
