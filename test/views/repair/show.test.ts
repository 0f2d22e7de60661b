import { describe, expect, it } from 'vitest';
import { viewJob } from '../../../src/views/repair/job.ts';
import { formatJob } from '../../../src/views/repair/show.ts';
import { type JobStory, jobStory } from '../../cli/commands/remedy/stories.ts';
import { NOW } from '../../support/builders.ts';

function show(story: JobStory, spec: object = {}): string {
  return formatJob(viewJob(jobStory(story, undefined, spec)), NOW, 110);
}

describe('formatJob', () => {
  it('R29 shows the timeline, the steps, what it waits for and what ends the wait', () => {
    expect(show('a drain that a budget blocks')).toMatchInlineSnapshot(`
      "node-a17-kernel-hang-7c1f02ab-r1-a1   Waiting, created 4m ago, must end by 2030-01-01T14:00:00Z
        repairs    machine node-a17, by rule kernel-hang of commit 4f2c9e1a77b0
        because    condition FrequentTaskHung: status True, observedSeconds 141
        rung       reboot, attempt 1, risk Node
        waits      PodDisruptionBudget 100s: shop/cart-0: disruptionsAllowed=0
        unblocks   no action required once its pods may be evicted: check the budget that is named; a person is
                   asked at 2030-01-01T12:13:02Z
        drain      30 of 34 pods evicted, 4 left, blocked by shop/cart-0

      TIMELINE   AT                     AFTER
      fault      2030-01-01T11:52:15Z           Kernel
      detected   2030-01-01T11:54:40Z   +2m     rule kernel-hang matched
      granted    2030-01-01T11:55:00Z   +20s    g-18841, for rung reboot
      acted      -
      verified   -
      settled    -

      STEP                       STATE             BY        TOOK   WHY
      s1 CollectDiagnostics@v1   Failed            Agent     3m     AgentSilent: no answer in 180 s
      s2 Cordon@v1               Succeeded         Central   1s
      s3 Drain@v1                Running (try 2)   Central   118s
      s4 Reboot@v1               Pending           Agent     -
      v1 Uncordon@v1             Pending           Central   -
      "
    `);
  });

  it('shows a job that ended with all moments and its outcome', () => {
    expect(show('a node that is healthy again')).toMatchInlineSnapshot(`
      "node-a17-kernel-hang-7c1f02ab-r1-a1   Succeeded, created 4m ago
        repairs    machine node-a17, by rule kernel-hang of commit 4f2c9e1a77b0
        because    condition FrequentTaskHung: status True, observedSeconds 141
        rung       reboot, attempt 1, risk Node
        outcome    Succeeded: Verified: healthy for 300 s

      TIMELINE   AT                     AFTER
      fault      2030-01-01T11:52:15Z           Kernel
      detected   2030-01-01T11:54:40Z   +2m     rule kernel-hang matched
      granted    2030-01-01T11:55:00Z   +20s    g-18841, for rung reboot
      acted      2030-01-01T11:58:50Z   +3m     3 of 4 steps succeeded
      verified   2030-01-01T11:59:50Z   +60s    its conditions held
      settled    2030-01-01T11:59:52Z   +2s     Succeeded

      STEP                       STATE       BY        TOOK   WHY
      s1 CollectDiagnostics@v1   Failed      Agent     3m     AgentSilent: no answer in 180 s
      s2 Cordon@v1               Succeeded   Central   1s
      s3 Drain@v1                Succeeded   Central   30s
      s4 Reboot@v1               Succeeded   Agent     30s
      v1 Uncordon@v1             Succeeded   Central   30s
      "
    `);
  });

  it('names the moments that a job which was handed to a person did not reach', () => {
    const text = show('a node that stays sick');
    expect(text).toMatch(/^acted +- +not reached$/m);
    expect(text).toContain('outcome    HandedOff: queue node-sre');
    expect(text).not.toContain('must end by');
  });

  it('shows who cancelled it', () => {
    const text = show('a new job', { cancel: { by: 'anna', reason: 'the disk is being changed' } });
    expect(text).toContain('cancelled  by anna: the disk is being changed');
    expect(text).toContain('Pending');
  });

  it('prints no control characters of a message', () => {
    const evidence = [{ fact: 'node', value: { zone: 'a\u001B[2J' } }];
    const { cause } = jobStory('a new job').spec;
    expect(show('a new job', { cause: { ...cause, evidence } })).not.toContain('\u001B');
  });

  it('names the receivers that were notified, and none of a damaged record', () => {
    const job = jobStory('a drain that a budget blocks');
    const shown = (record: string): string => {
      const annotations = { 'kubenode.dev/notified': record };
      const notified = { ...job, metadata: { ...job.metadata, annotations } };
      return formatJob(viewJob(notified), NOW, 110);
    };
    expect(shown('{"on-call":{"s5":"2030-01-01T11:59:00Z"},"bad":{"s5":7}}')).toContain(
      '  notified   on-call of s5 at 2030-01-01T11:59:00Z\n',
    );
    expect(shown('{"on-call":{"s5/resolved":"2030-01-01T11:59:00Z"}}')).toContain(
      '  notified   on-call of the end of s5 at 2030-01-01T11:59:00Z\n',
    );
    expect(shown('{"on-call"')).not.toContain('notified');
  });
});
