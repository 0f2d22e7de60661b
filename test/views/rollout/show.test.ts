import { describe, expect, it } from 'vitest';
import { formatRollout } from '../../../src/views/rollout/show.ts';
import { type MachineInWork, viewRollout } from '../../../src/views/rollout/view.ts';
import { STORIES, type Story } from '../../cli/commands/rollout/stories.ts';
import { ago, NOW } from '../../support/builders.ts';

const IN_WORK: readonly MachineInWork[] = [
  {
    name: 'm-05',
    componentRef: 'kubelet-1.31.4',
    state: 'WaitingForDrain',
    since: ago(12),
    because: 'pod shop/web-7 is protected by PodDisruptionBudget web',
  },
  { name: 'm-06', componentRef: 'kubelet-1.31.4', state: 'Probation', since: ago(31), because: '' },
];

const ALL = Object.keys(STORIES) as Story[];

describe('formatRollout', () => {
  it.each(ALL)('ROL-61 shows what happens, why and since when in 80 columns: %s', (story) => {
    const text = formatRollout(viewRollout(STORIES[story], IN_WORK), NOW);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(text).toMatch(/^general-nodes {3}\w+/);
    expect(text).toMatch(/\n {2}(waits|state) +\S/);
  });

  it.each<[Story, string]>([
    ['an approval', 'kubenode rollout approve general-nodes'],
    ['a pause', 'kubenode rollout resume general-nodes'],
    ['a denied grant', 'kubenode defender status'],
    ['a spent failure budget', 'kubenode rollout undo general-nodes'],
    ['a rollback that ended', 'spec.retryToken'],
    ['a conflict', 'leaves each component of a machine to one set'],
  ])('ROL-61 names the command or commit that unblocks %s', (story, hint) => {
    const text = formatRollout(viewRollout(STORIES[story], []), NOW);
    const [, unblocks = ''] = text.split(/\n {2}unblocks +/);
    expect(unblocks.replaceAll(/\s+/g, ' ')).toContain(hint);
  });

  it('ROL-22 shows what a check found that did not pass, and why one is skipped', () => {
    const set = STORIES['a soak'];
    const checks = [
      { name: 'health', result: 'Pass', value: 'healthy: 5' },
      { name: 'errors', result: 'Fail', value: '7 is above 1' },
      { name: 'ratio', result: 'Skipped', value: 'no machine is left to compare with' },
    ] as const;
    const text = formatRollout(
      viewRollout({ ...set, status: { conditions: [], ...set.status, checks: [...checks] } }, []),
      NOW,
    );
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'checks health Pass, errors Fail (7 is above 1), ratio Skipped (no machine is left to compare with)',
    );
  });

  it('does not show the batch of a revision that was taken back: it is past', () => {
    const text = formatRollout(viewRollout(STORIES['a rollback that ended'], []), NOW);
    expect(text).not.toMatch(/^ {2}(batch|checks)/m);
    expect(formatRollout(viewRollout(STORIES['a soak'], []), NOW)).toMatch(/^ {2}batch/m);
  });

  it.each<[Story, string]>([
    [
      'a soak',
      `general-nodes   Soaking 30s
  change     kubelet-1.31.3 → kubelet-1.31.4
  progress   [#########...............] 6 of 16 machines
  batch      2 of 3: 5 of 5 machines, began 4m ago, soaks 90s longer, until
             2030-01-01T12:01:30Z
  checks     health Pass, latency Pending
  waits      Soaking 30s: batch 2 soaks until 2030-01-01T12:01:30Z
  unblocks   no action required: it goes on when the soak ends
`,
    ],
    [
      'a spent failure budget',
      `general-nodes   Stalled 20s
  change     kubelet-1.31.3 → kubelet-1.31.4
  progress   [####....................] 3 of 16 machines, 2 failed
  batch      2 of 3: 3 of 5 machines, began 4m ago
  waits      FailureBudgetSpent 20s: machines failed: 2, allowed: 0. m-04:
             kubelet: probe healthz failed 3 times
  unblocks   fix the version and commit, or go back: kubenode rollout undo
             general-nodes. A new spec.retryToken continues with this one

FAILING                            STATE                 SINCE
m-04                               kubelet ProbeFailed   45s
    probe healthz failed 3 times: connection refused
rack7-row3-slot12-node-with-a-long-name.eu-central-1
                                   kubelet ExitCode      25s
    kubelet exited with 1: unknown flag --container-runtime
`,
    ],
    [
      'its end',
      `general-nodes   Completed 60m
  progress   [########################] 16 of 16 machines
  state      completed: every machine that takes part runs kubelet 1.31.4,
             node-exporter 1.8.2
`,
    ],
    [
      'a dry run',
      `general-nodes   Waiting
  change     kubelet-1.31.3 → kubelet-1.31.4
  progress   [........................] 0 of 16 machines
  plan       batches 1, 5, 10; class Drain; 16 grants; 16 drains
  state      needs a person: spec.dryRun is true: it plans and changes nothing
`,
    ],
    [
      'no status',
      `general-nodes   Pending
  change     kubelet-1.31.4 (new)
  progress   no machine is selected
  state      goes on: it was not observed yet: check that kubenode controllers
             runs
`,
    ],
  ])('shows %s', (story, text) => {
    expect(formatRollout(viewRollout(STORIES[story], []), NOW)).toBe(text);
  });

  it('shows the revision where a person approves it, and versions everywhere else', () => {
    const texts = Object.entries(STORIES).map(([story, set]) => ({
      story,
      text: formatRollout(viewRollout(set, []), NOW),
    }));
    const withRevision = texts.filter(({ text }) => text.includes('r-5d41402a'));
    expect(
      withRevision.map(({ story, text }) => [story, text.includes('  revision   r-5d41402a\n')]),
    ).toEqual([['an approval', true]]);
  });

  it('lists machines in work after the failing ones, and counts the rest', () => {
    const view = viewRollout(STORIES['a batch in work'], IN_WORK);
    const text = formatRollout(view, NOW, { columns: 80, listRows: 1 });
    expect(text).toContain(
      `
IN WORK   STATE                            SINCE   WHY
m-05      kubelet-1.31.4 WaitingForDrain   12s     pod shop/web-7 is protected
                                                   by PodDisruptionBudget web
  and 1 more
`,
    );
  });

  it('keeps control characters of a message out of the terminal', () => {
    const hostile = { ...IN_WORK[1], because: 'x\u001B[2J\nforged' } as MachineInWork;
    const text = formatRollout(viewRollout(STORIES['a batch in work'], [hostile]), NOW);
    expect(text).toContain(String.raw`x\u001b[2J\nforged`);
  });
});
