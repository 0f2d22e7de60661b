/** S35: one revert of a failed commit, with a real git server and a stand-in for GitHub and GitLab. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { revertDestination } from '../../../src/sync/revert/destination.ts';
import { createNextRevert } from '../../../src/sync/revert/next-revert.ts';
import { createStandInApp } from '../../support/git-host/github-app.ts';
import { createSshSigner } from '../../support/git-server/signer.ts';
import { createRevertBed, type OnCall, type RevertBed, TOKEN } from './bed.ts';

const PUSH = { onFailure: 'PushRevert' };

/** Runs a process until nothing is left to do, or a call throws. Resolves with its last report. */
async function run(
  bed: RevertBed,
  onCall?: OnCall,
): Promise<ReturnType<ReturnType<typeof createNextRevert>['report']>> {
  const ports = bed.ports(onCall);
  const next = createNextRevert(ports, new AbortController().signal);
  for (let step = 0; step < 10; step += 1) {
    const target = revertDestination(bed.pipeline, ports.secrets);
    if (!target) throw new Error('the Pipeline has no reverts');
    const waitMs = await next.make(bed.pipeline, target);
    if (waitMs >= 15_000) break;
    await ports.clock.sleep(waitMs);
  }
  return next.report();
}

/** Runs processes until one of them ends. Each one before is killed at its n-th call. */
async function runKilled(bed: RevertBed, at: number, when: 'before' | 'after'): Promise<boolean> {
  let calls = 0;
  let isKilled = false;
  const onCall: OnCall = (_, now) => {
    if (now === when) calls += 1;
    if (isKilled || (now === when && calls === at)) {
      isKilled = true;
      throw new Error('killed');
    }
  };
  await run(bed, onCall).catch(() => undefined);
  await run(bed);
  return isKilled;
}

function branchOf({ failed }: RevertBed): string {
  return `kubenode/revert/fleet/prod/${failed.slice(0, 12)}`;
}

describe('reverts of a failed commit', () => {
  it.each(['GitHub', 'GitLab'] as const)(
    'S35 proposes one as a pull request at %s, with the evidence',
    async (type) => {
      const bed = await createRevertBed({ type });
      const report = await run(bed);
      const record = bed.record();
      expect(bed.branches()).toEqual([`${record?.revert} refs/heads/${branchOf(bed)}`]);
      expect(bed.main()).toBe(bed.failed);
      expect(record).toMatchObject({
        state: 'Proposed',
        how: 'Propose',
        pullRequest: 1,
        onto: bed.failed,
        proven: bed.proven,
      });
      expect(bed.host.pulls).toEqual([
        expect.objectContaining({
          branch: branchOf(bed),
          title: 'Revert "Update web to 2.0" (failed in stage prod)',
          body: expect.stringMatching(/\| prod-1 \| Unhealthy \|/) as unknown,
        }),
      ]);
      bed.repository.git('fetch', '--quiet', 'origin', branchOf(bed));
      expect(bed.repository.git('diff', bed.proven, 'FETCH_HEAD')).toBe('');
      expect(bed.repository.git('rev-parse', 'FETCH_HEAD^')).toBe(bed.failed);
      const trailers = bed.repository.git('log', '-1', '--format=%(trailers)', 'FETCH_HEAD');
      expect(trailers.split('\n')).toEqual(
        expect.arrayContaining([
          'Kubenode-Pipeline: fleet',
          'Kubenode-Stage: prod',
          'Kubenode-Failed-Clusters: prod-1',
          `Kubenode-Revert: ${bed.proven}..${bed.failed}`,
        ]),
      );
      expect(report.done?.message).toMatch(/failed in stage prod: merge pull request 1 \(https:/);
      expect(bed.events.map(({ reason }) => reason)).toEqual(['RevertProposed']);
      // Messages of clusters name addresses of the fleet.
      const shown = JSON.stringify([
        bed.host.pulls,
        trailers,
        bed.log.lines,
        bed.events,
        bed.pipeline.status,
      ]);
      expect(shown).not.toContain('10.0.0.7');
      expect(shown).not.toContain(TOKEN);
    },
  );

  it('S35 pushes one to the ref, and makes no second one', async () => {
    const bed = await createRevertBed({ spec: PUSH });
    expect((await run(bed)).done?.reason).toBe('RevertPushed');
    expect(bed.main()).toBe(bed.record()?.revert);
    expect([bed.branches(), bed.host.calls]).toEqual([[], []]);
    await run(bed);
    expect(bed.main()).toBe(bed.record()?.revert);
  });

  it('S35 proposes it if the ref moves before the push', async () => {
    const bed = await createRevertBed({ spec: PUSH });
    let later = '';
    const report = await run(bed, (call, when) => {
      if (call === 'push' && when === 'before') later ||= bed.repository.commit('later', { b: '1' });
    });
    expect(bed.main()).toBe(later);
    expect(bed.record()).toMatchObject({
      state: 'Proposed',
      how: 'Propose',
      note: `not pushed to the ref: the ref has moved to ${later}`,
    });
    expect(bed.host.pulls).toHaveLength(1);
    expect(report.done?.message).toContain('Note: not pushed to the ref');
  });

  it('S35 proposes it if a newer commit is accepted already', async () => {
    const bed = await createRevertBed({ spec: PUSH });
    bed.head = bed.repository.commit('later', { b: '1' });
    await run(bed);
    expect(bed.record()).toMatchObject({ state: 'Proposed', onto: bed.head });
    expect(bed.main()).toBe(bed.head);
  });

  it('S35 pushes nothing that conflicts, and tells which file', async () => {
    const bed = await createRevertBed();
    bed.head = bed.repository.commit('later', { 'web.yaml': 'version: 3' });
    const { problem } = await run(bed);
    expect(problem).toMatchObject({ status: 'False', reason: 'Conflict' });
    expect(problem?.message).toContain('changed files of the range, too: web.yaml. Nothing was pushed.');
    expect([bed.branches(), bed.host.calls, bed.record()]).toEqual([[], [], undefined]);
    expect(bed.events.map(({ reason }) => reason)).toEqual(['RevertNotMade']);
  });

  it('S35 makes no revert of its own revert, however it was merged', async () => {
    const bed = await createRevertBed();
    await run(bed);
    bed.repository.git('fetch', '--quiet', 'origin', branchOf(bed));
    bed.repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge pull request 1', 'FETCH_HEAD');
    bed.head = bed.repository.commit('fix', { 'web.yaml': 'version: 3' });
    const [release] = bed.releases;
    if (!release) throw new Error('no Release');
    bed.releases = [{ ...release, spec: { ...release.spec, commit: bed.head } }];
    const { problem } = await run(bed);
    expect(problem?.reason).toBe('AutomaticRevert');
    expect(bed.host.pulls).toHaveLength(1);
  });

  it.each([
    [
      'closed',
      (bed: RevertBed) => {
        for (const pull of bed.host.pulls) pull.isOpen = false;
      },
    ],
    [
      'deleted the branch of',
      (bed: RevertBed) => void bed.repository.git('push', '--quiet', 'origin', `:${branchOf(bed)}`),
    ],
  ])('S35 respects that a person has %s the pull request', async (_, act) => {
    const bed = await createRevertBed();
    await run(bed);
    const before = bed.record();
    act(bed);
    const branches = bed.branches();
    await run(bed);
    expect([bed.host.pulls.length, bed.branches(), bed.record()]).toEqual([1, branches, before]);
  });

  it('S35 respects a pull request that was closed before it was recorded', async () => {
    const bed = await createRevertBed();
    await run(bed, (call, when) => {
      if (call === 'send POST' && when === 'after') bed.isHeld = false;
    });
    expect(bed.record()?.state).toBe('Planned');
    bed.isHeld = true;
    for (const pull of bed.host.pulls) pull.isOpen = false;
    bed.repository.git('push', '--quiet', 'origin', `:${branchOf(bed)}`);
    await run(bed);
    expect([bed.host.pulls.length, bed.branches(), bed.record()?.state]).toEqual([1, [], 'Proposed']);
  });

  it('S35 leaves a branch of others with its name alone', async () => {
    const bed = await createRevertBed();
    bed.repository.git('push', '--quiet', 'origin', `${bed.proven}:refs/heads/${branchOf(bed)}`);
    const { problem } = await run(bed);
    expect(problem?.message).toContain('which sync has not made: delete the branch');
    expect(bed.branches()).toEqual([`${bed.proven} refs/heads/${branchOf(bed)}`]);
    expect(bed.host.pulls).toEqual([]);
  });

  it.each([{ paused: true }, { halt: { by: 'anna', reason: 'x', since: '2030-01-01T00:00:00Z' } }])(
    'S35 pushes nothing while the Pipeline has %j',
    async (spec) => {
      const bed = await createRevertBed({ spec: { ...PUSH, ...spec } });
      expect((await run(bed)).problem?.reason).toBe('Paused');
      expect([bed.main(), bed.branches(), bed.record()]).toEqual([bed.failed, [], undefined]);
    },
  );

  it('S35 pushes nothing without the Lease', async () => {
    const bed = await createRevertBed({ spec: PUSH });
    await run(bed, (call, when) => {
      if (call === 'revert' && when === 'before') bed.isHeld = false;
    });
    expect([bed.main(), bed.record()]).toEqual([bed.failed, undefined]);
  });

  it('S35 has nothing to go back to in a stage that has proven nothing', async () => {
    const bed = await createRevertBed();
    const stages = [{ name: 'prod' }];
    bed.pipeline = { ...bed.pipeline, status: { conditions: [], stages } };
    expect((await run(bed)).problem).toMatchObject({
      reason: 'NothingProven',
      message: expect.stringContaining('Push a commit that fixes it') as unknown,
    });
    expect(bed.branches()).toEqual([]);
  });

  describe('with signers in force', () => {
    const signer = createSshSigner('sync');
    const files = { keys: signer.entry };
    const signers = [{ name: 'all', keysPath: 'keys', paths: [] }];
    const signatures = { mode: 'Range', signers } as const;

    it('S19 pushes nothing that sync itself would refuse', async () => {
      const bed = await createRevertBed({ spec: PUSH, files, signatures });
      const { problem } = await run(bed);
      expect(problem).toMatchObject({
        reason: 'NotSigned',
        message: expect.stringContaining('it is not signed') as unknown,
      });
      expect([bed.main(), bed.branches()]).toEqual([bed.failed, []]);
    });

    it('S19 signs with the key of the Secret', async () => {
      const secret = { 'signing-key': readFileSync(signer.keyFile, 'utf8') };
      const bed = await createRevertBed({ spec: PUSH, files, secret, signatures });
      await run(bed);
      expect(bed.main()).not.toBe(bed.failed);
      expect(JSON.stringify([bed.log.lines, bed.events, bed.pipeline])).not.toContain('PRIVATE KEY');
    });

    it('S19 proposes an unsigned one with a note that a person must sign it', async () => {
      const bed = await createRevertBed({ files, signatures });
      await run(bed);
      expect(bed.host.pulls[0]?.body).toContain(
        '**Note:** sync would refuse this commit: it is not signed. Sign it before you merge: git fetch',
      );
    });
  });
});

describe('a host that fails', () => {
  it.each([
    [{ status: 403 }, 'False', 'Forbidden', 'writeCredentialsRef|Contents: write and Pull requests: write'],
    [{ status: 401 }, 'False', 'TokenRefused', 'spec.source.writeCredentialsRef'],
  ] as const)('S35 reports %j until a person helps', async (fault, status, reason, message) => {
    const bed = await createRevertBed();
    bed.host.fault = () => fault;
    const { problem } = await run(bed);
    expect(problem).toMatchObject({ status, reason });
    expect(problem?.message).toMatch(new RegExp(message));
    bed.host.fault = () => undefined;
    await run(bed);
    expect(bed.host.pulls).toHaveLength(1);
  });

  it.each([
    { status: 429, headers: { 'retry-after': '3' } },
    { status: 503 },
    { status: 500, acts: true },
    { status: 403, headers: { 'retry-after': '1' } },
  ])('S35 creates one pull request in the end, although some calls are answered %j', async (fault) => {
    const bed = await createRevertBed();
    bed.host.fault = (call) => (call < 6 && call % 2 === 1 ? fault : undefined);
    await run(bed);
    expect([bed.host.pulls.length, bed.branches().length, bed.record()?.state]).toEqual([1, 1, 'Proposed']);
  });

  it('S35 takes a push whose answer was lost for done', async () => {
    const bed = await createRevertBed({ spec: PUSH });
    bed.server.fail('push', { do: 'lose' });
    await run(bed);
    expect([bed.record()?.state, bed.main()]).toEqual(['Pushed', bed.record()?.revert]);
  });

  it('S35 reports a server that does not let the token push', async () => {
    const bed = await createRevertBed({ spec: PUSH });
    bed.server.fail('refs', { do: 'status', status: 403 });
    const { problem } = await run(bed);
    expect(problem).toMatchObject({ status: 'False', reason: 'TokenRefused' });
    expect(problem?.message).toContain('spec.source.writeCredentialsRef');
  });

  it.each([
    ['ProposeRevert', 'Proposed', 1],
    ['PushRevert', 'Pushed', 0],
  ] as const)('S35 makes one as a GitHub App, with %s', async (onFailure, state, pulls) => {
    const app = createStandInApp();
    const bed = await createRevertBed({ spec: { onFailure }, app });
    await run(bed);
    expect([bed.record()?.state, bed.host.pulls.length, app.issued.length]).toEqual([state, pulls, 1]);
  });

  it('S35 tries again with another token when that of the GitHub App was revoked', async () => {
    const app = createStandInApp();
    const bed = await createRevertBed({ spec: PUSH, app });
    await run(bed, (call, when) => {
      if (call === 'push' && when === 'before' && app.issued.length === 1) app.revoke(app.issued[0] ?? '');
    });
    expect([bed.record()?.state, bed.main()]).toEqual(['Pushed', bed.record()?.revert]);
  });
});

describe('a process that is killed', () => {
  it.each([
    ['ProposeRevert', 'before'],
    ['ProposeRevert', 'after'],
    ['PushRevert', 'before'],
    ['PushRevert', 'after'],
  ] as const)('S35 makes one revert with %s, %s whichever call it was', async (onFailure, when) => {
    const bed = await createRevertBed({ spec: { onFailure } });
    let at = 0;
    let isKilled = true;
    while (isKilled) {
      at += 1;
      bed.reset();
      isKilled = await runKilled(bed, at, when);
      const made = [bed.branches().length, bed.host.pulls.length, bed.main() === bed.record()?.revert];
      expect([at, bed.record()?.state, ...made]).toEqual(
        onFailure === 'PushRevert' ? [at, 'Pushed', 0, 0, true] : [at, 'Proposed', 1, 1, false],
      );
      expect(bed.pipeline.status?.reverts).toHaveLength(1);
    }
    expect(at).toBeGreaterThan(5);
  });
});
