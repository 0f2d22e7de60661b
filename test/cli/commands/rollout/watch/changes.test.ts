import { describe, expect, it } from 'vitest';
import { changeLines } from '../../../../../src/cli/commands/rollout/watch/changes.ts';
import { viewRollout } from '../../../../../src/views/rollout/view.ts';
import { STORIES, type Story } from '../stories.ts';

const view = (story: Story) => viewRollout(STORIES[story], []);

describe('changeLines', () => {
  it('says what it is at when nothing was shown before', () => {
    expect(changeLines(undefined, view('a batch in work'))).toEqual([
      'general-nodes: Rolling kubelet 1.31.4, node-exporter 1.8.2: batch 2 is full',
      'general-nodes: batch 2 of 3: 3 of 5; 3 of 16 machines in all',
    ]);
  });

  it.each(Object.keys(STORIES) as Story[])('has no line when nothing changed: %s', (story) => {
    expect(changeLines(view(story), view(story))).toEqual([]);
  });

  it('adds the next step when it needs a person, and each failure once', () => {
    const failed = view('a spent failure budget');
    const lines = changeLines(view('a batch in work'), failed);
    expect(lines).toEqual([
      'general-nodes: Stalled kubelet 1.31.4, node-exporter 1.8.2: FailureBudgetSpent: machines failed: 2, allowed: 0. m-04: kubelet: probe healthz failed 3 times. Next: fix the version and commit, or go back: kubenode rollout undo general-nodes. A new spec.retryToken continues with this one',
      'general-nodes: machine m-04 failed: kubelet ProbeFailed: probe healthz failed 3 times: connection refused',
      'general-nodes: machine rack7-row3-slot12-node-with-a-long-name.eu-central-1 failed: kubelet ExitCode: kubelet exited with 1: unknown flag --container-runtime',
    ]);
    expect(changeLines({ ...failed, failed: failed.failed.slice(0, 1) }, failed)).toHaveLength(1);
  });
});
