import { describe, expect, it } from 'vitest';
import type { AcceptedHead } from '../../../../src/sync/accepted-heads.ts';
import { GitError } from '../../../../src/sync/git/errors.ts';
import type { AncestryQuestion, GitTransport } from '../../../../src/sync/git/transport.ts';
import { createUnacceptedCommits } from '../../../../src/sync/hub/acceptance/unaccepted-commits.ts';
import { memoryLog } from '../../../support/memory-log.ts';

/** A restored repository: it ends at `c2`. The clusters were at `c4` already, and `other` was never in this history. */
const HISTORY = ['c1', 'c2', 'c3', 'c4'];

function ancestryIn(history: readonly string[]): GitTransport['ancestry'] {
  return async ({ ancestor, head }: AncestryQuestion) => {
    if (ancestor === head) return 'same';
    const [before, after] = [history.indexOf(ancestor), history.indexOf(head)];
    if (before < 0 || after < 0) return 'diverged';
    return before < after ? 'descends' : 'older';
  };
}

async function unaccepted(
  named: readonly string[],
  { accepted = [], history = HISTORY }: { accepted?: readonly AcceptedHead[]; history?: readonly string[] },
): Promise<string[]> {
  const commits = createUnacceptedCommits({
    git: { ancestry: ancestryIn(history) },
    ref: 'main',
    log: memoryLog(),
  });
  return [...(await commits.find({ newest: 'c2', named, accepted })).keys()];
}

describe('the commits that only inventories name', () => {
  const PERSON: AcceptedHead = { commit: 'c2', replaces: ['c4'] };

  it.each<[name: string, named: string[], options: Parameters<typeof unaccepted>[1], expected: string[]]>([
    ['nothing where inventories name nothing', [], {}, []],
    ['no commit of the history, however old', ['c1', 'c2'], {}, []],
    ['a newer commit that the branch was moved back from', ['c1', 'c4'], {}, ['c4']],
    ['a commit that the restored repository does not have', ['c4'], { history: ['c1', 'c2'] }, ['c4']],
    ['a commit of another history', ['other'], {}, ['other']],
    ['nothing in place of which a person accepted the head', ['c4', 'other'], { accepted: [PERSON] }, []],
  ])('S39 finds as not accepted %s', async (_, named, options, expected) => {
    expect(await unaccepted(named, options)).toEqual(expected);
  });

  it('takes a commit that git cannot compare for unaccepted, and asks again', async () => {
    let isDown = true;
    const up = ancestryIn(HISTORY);
    let asked = 0;
    const ancestry: GitTransport['ancestry'] = (question) => {
      asked += 1;
      if (isDown) throw new GitError('Unreachable', 'connection refused', { where: 'main', hint: 'wait' });
      return up(question);
    };
    const commits = createUnacceptedCommits({ git: { ancestry }, ref: 'main', log: memoryLog() });
    const question = { newest: 'c2', named: ['c1'], accepted: [] };
    expect((await commits.find(question)).get('c1')).toMatch(
      /^it is unknown whether c2 descends from the applied commit c1: .*connection refused/,
    );
    isDown = false;
    expect(await commits.find(question)).toEqual(new Map());
    expect(asked).toBe(2);
    await commits.find(question);
    expect(asked).toBe(2);
  });
});
