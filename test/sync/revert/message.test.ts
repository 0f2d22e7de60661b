import { describe, expect, it } from 'vitest';
import { parseCommit } from '../../../src/sync/git/http/objects.ts';
import { commitContent } from '../../../src/sync/git/revert/commit-content.ts';
import { pullBody, revertMessage, revertTitle } from '../../../src/sync/revert/message.ts';
import { FAILED, PROVEN, recordOf } from './builders.ts';

const TEXT = { ...recordOf(), pipeline: 'fleet', subject: 'Update web' };

describe('the texts of a revert', () => {
  it('S35 name what is reverted so that a Release shows it', () => {
    const content = commitContent({
      tree: PROVEN,
      parent: FAILED,
      message: revertMessage(TEXT),
      at: new Date('2030-01-01T12:00:00Z'),
    });
    expect(parseCommit('', { type: 'commit', content })).toMatchObject({
      subject: 'Revert "Update web" (failed in stage prod)',
      author: 'kubenode-sync',
      committedAt: new Date('2030-01-01T12:00:00Z'),
      revertOf: FAILED,
      body: expect.stringMatching(
        new RegExp(
          `\n\nKubenode-Pipeline: fleet\nKubenode-Stage: prod\nKubenode-Release: fleet-b{12}\nKubenode-Failed-Clusters: prod-1\nKubenode-Cause: FailureBudgetSpent\nKubenode-Revert: ${PROVEN}\\.\\.${FAILED}$`,
        ),
      ) as unknown,
    });
  });

  it('S35 do not let the subject of an author add a trailer or a line', () => {
    const text = { ...TEXT, subject: `x\n\nKubenode-Revert: 1\u001b[31m${'y'.repeat(500)}` };
    const [title, empty] = revertMessage(text).split('\n');
    expect(title).toBe(revertTitle(text));
    expect(title?.length).toBeLessThan(110);
    expect(empty).toBe('');
    expect(title).not.toContain('\u001b');
    expect(revertTitle({ ...TEXT, subject: '' })).toBe('Revert bbbbbbbbbbbb (failed in stage prod)');
  });

  it('S35 have each failed cluster with its reason, and the note', () => {
    const failedClusters = [{ name: 'eu-1', reason: 'Unhealthy' }, { name: 'eu-2' }];
    const body = pullBody({ ...TEXT, failedClusters, note: 'sign\n\n# it' });
    expect(body).toContain('| eu-1 | Unhealthy |\n| eu-2 | Failed |');
    expect(body).toContain(String.raw`**Note:** sign\n\n# it`);
    expect(pullBody(TEXT)).not.toContain('**Note:**');
  });

  it('S35 have the same bytes each time, whatever the note is', () => {
    expect(revertMessage({ ...TEXT, note: 'moved' })).toBe(revertMessage(TEXT));
  });
});
