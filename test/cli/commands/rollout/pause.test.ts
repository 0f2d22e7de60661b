import { describe, expect, it } from 'vitest';
import type { MachineComponentSet } from '../../../../src/api/generated/types.ts';
import { notPausedText } from '../../../../src/cli/commands/rollout/pause.ts';
import { CliError } from '../../../../src/cli/errors.ts';
import { condition } from '../../../support/builders.ts';
import { STORIES, type Story } from './stories.ts';

type Status = NonNullable<MachineComponentSet['status']>;

function refused(story: Story, status: Partial<Status> = {}): string {
  const set = STORIES[story];
  try {
    return notPausedText({ ...set, status: { conditions: [], ...set.status, ...status } });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return `${error.exitCode}: ${error.message}. ${error.hint}`;
  }
}

describe('kubenode rollout resume of a set that is not paused', () => {
  it.each<Story>(['a batch in work', 'a soak', 'a rollback in work', 'its end'])(
    'has nothing to do: %s',
    (story) => {
      expect(refused(story)).toBe('general-nodes is not paused: nothing to do');
    },
  );

  it('ROL-30 names what a rollout stopped for, and what continues it', () => {
    expect(refused('a spent failure budget')).toBe(
      '1: general-nodes is not paused, it has stopped: machines failed: 2, allowed: 0. m-04: kubelet: probe healthz failed 3 times. ' +
        'fix the version and commit, or go back: kubenode rollout undo general-nodes. A new spec.retryToken continues with this one',
    );
    expect(refused('a rollback that ended')).toBe(
      '1: general-nodes is not paused, it has stopped: kubelet 1.31.4, node-exporter 1.8.2 was rolled back. ' +
        'commit another version, or a new spec.retryToken to try this one again',
    );
  });

  it('ROL-21 asks for a pause before it resumes a rollout whose health was unknown too often', () => {
    const message = 'check health: runs without a result: 4, allowed: 3. m-04: Node m-04 is Unknown';
    const blocker = { kind: 'Machine', name: 'm-04' } as const;
    const stopped = {
      conditions: [condition('Stalled', 'True', { reason: 'HealthUnknown', message })],
      waiting: { reason: 'HealthUnknown', message, blocker, since: '2030-01-01T12:00:00Z' },
    };
    expect(refused('a soak', stopped)).toBe(
      `1: general-nodes is not paused, it has stopped: ${message}. repair what reports the health of m-04, then resume: ` +
        'kubenode rollout pause general-nodes, and kubenode rollout resume general-nodes',
    );
  });

  it('ROL-02 names the approval that it waits for', () => {
    expect(refused('an approval')).toBe(
      '3: general-nodes is not paused, it waits: batch 1 of kubelet 1.31.4, node-exporter 1.8.2 waits for approval: kubenode rollout approve. ' +
        'kubenode rollout approve general-nodes',
    );
  });
});
