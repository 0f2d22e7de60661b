import { describe, expect, it } from 'vitest';
import { createReleasesTable, formatRelease } from '../../../src/views/release/text.ts';
import { COMMIT, NOW, pipeline, release } from '../../cli/commands/builders.ts';

describe('releases as text', () => {
  const status = {
    phase: 'Waiting',
    stage: 'prod',
    clusters: { total: 3, proven: 2 },
    waiting: { reason: 'ApprovalRequired', since: '2030-01-01T11:55:00Z', message: 'prod needs an approval' },
    stages: [
      { name: 'pre', state: 'Proven', provenAt: '2030-01-01T11:55:00Z', clusters: { total: 1, proven: 1 } },
      {
        name: 'prod',
        state: 'Waiting',
        waiting: { since: '2030-01-01T11:55:00Z', message: 'prod needs an approval' },
        clusters: { total: 2 },
      },
    ],
    failedClusters: [
      { name: 'p1', stage: 'prod', reason: 'Invalid', since: '2030-01-01T11:59:00Z', message: 'spec.x' },
    ],
  };

  it('lists each release with what it is waiting for', () => {
    expect(createReleasesTable([release(status)], NOW).rows).toEqual([
      ['fleet-aaaaaaaaaaaa', 'Waiting', 'prod', '2/3', '10m', 'shop 1.1', 'prod needs an approval'],
    ]);
  });

  it('SAF-13 shows what subject, author and messages contain, instead of sending it to the terminal', () => {
    const odd = release({ ...status, waiting: { ...status.waiting, message: 'a\u001b[2Jb\nc' } });
    const { spec } = odd;
    const texts = { subject: 'x\u001b]0;title\u0007', author: 'A\u009b31m\nphase: Proven' };
    const shown = formatRelease({ ...odd, spec: { ...spec, ...texts } }, NOW);
    expect(shown.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(shown.split('\n')).toHaveLength(formatRelease(release(status), NOW).split('\n').length);
    expect(shown).toContain(String.raw`x\u001b]0;title\u0007 (A\u009b31m\nphase: Proven`);
  });

  it('shows what holds up the Pipeline, which may concern no stage', () => {
    const held = {
      type: 'Held',
      status: 'True',
      reason: 'DeletesHeld',
      message: "the hub's own objects: held",
      lastTransitionTime: '2030-01-01T11:58:00Z',
    };
    expect(formatRelease(release(status), NOW, { pipeline: pipeline({ conditions: [held] }) })).toContain(
      "\n  pipeline fleet: DeletesHeld since 2m: the hub's own objects: held\n",
    );
  });

  it('FST-2 shows an approver what each stage changes', () => {
    const { spec, ...rest } = release(status);
    const stages = [
      { name: 'test', clusters: 1, changed: 0, creates: 0, updates: 0, deletes: 0 },
      { name: 'prod', clusters: 3, changed: 2, creates: 5, updates: 1, deletes: 400 },
    ];
    const counted = { ...rest, spec: { ...spec, plan: { ...spec.plan, stages } } };
    expect(formatRelease(counted, NOW)).toContain(
      'sha256:0\n' +
        '           test: 0 of 1 clusters change; objects: 0 created, 0 updated, 0 deleted\n' +
        '           prod: 2 of 3 clusters change; objects: 5 created, 1 updated, 400 deleted\n' +
        '  waiting',
    );
  });

  it('S30 shows who signed a release, and who approved its plan for which stage and why', () => {
    const { spec, ...rest } = release(status);
    const signed = { ...rest, spec: { ...spec, signer: 'ann@example.com' } };
    const approvals = [
      { stage: 'test', reason: 'tried', commit: 'b'.repeat(40) },
      { stage: 'prod', reason: 'reviewed\nx', commit: 'c'.repeat(40), by: 'bob@example.com' },
      { stage: 'late', reason: 'old' },
    ];
    expect(formatRelease(signed, NOW, { approvals })).toContain(
      ' ago)\n  signed by ann@example.com\n' +
        '  approved for test, signature not verified (commit bbbbbbbbbbbb): tried\n' +
        String.raw`  approved for prod by bob@example.com (commit cccccccccccc): reviewed\nx` +
        '\n  approved for late, signature not verified (commit unknown): old\n  plan     2 of 3',
    );
  });

  it('shows one release stage by stage', () => {
    expect(formatRelease(release(status), NOW)).toBe(
      `fleet-aaaaaaaaaaaa: Waiting\n  commit   ${COMMIT}\n  subject  shop 1.1 (Ann, 60m ago)\n` +
        '  plan     2 of 3 clusters change, 1 objects deleted, sha256:0\n' +
        '  waiting  ApprovalRequired since 5m: prod needs an approval\n\n' +
        'STAGE   STATE     PROVEN   FAILED   SINCE   BECAUSE\n' +
        'pre     Proven    1/1      0        5m\n' +
        'prod    Waiting   0/2      0        5m      prod needs an approval\n\n' +
        'FAILED CLUSTER   STAGE   REASON    SINCE   MESSAGE\n' +
        'p1               prod    Invalid   60s     spec.x\n',
    );
  });
});
