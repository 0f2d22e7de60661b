/** `kubenode release approve --commit` in a real repository, signed by git, and judged by the code with which sync judges signatures. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Pipeline, Release } from '../../../../../src/api/generated/types.ts';
import {
  type ApprovalCommit,
  commitApproval,
} from '../../../../../src/cli/commands/release/approve/commit.ts';
import { sshFingerprint } from '../../../../../src/sync/git/signatures/ssh/public-key.ts';
import { createSignedRepository, KEYS } from '../../../../support/git-server/signed-repository.ts';
import { createSshSigner, type TestSigner } from '../../../../support/git-server/signer.ts';
import { testIo } from '../../../../support/test-io.ts';

const [ann, bob] = [createSshSigner('ann'), createSshSigner('bob')];
const DIGEST = `sha256:${'b'.repeat(64)}`;
const PROGRAM = `import { Fleet } from 'kubenode/constructs';
import { spec } from './pipelines.ts';
const fleet = new Fleet();
fleet.pipeline('fleet', spec);
fleet.synth();
`;
const PIPELINES = `export const spec = {
  source: { repository: 'https://git.example.com/fleet' },
  stages: [{ name: 'prod', clusterSelector: { all: true } }],
};
`;

interface Request {
  readonly excluded?: readonly string[];
  readonly flags?: { readonly push?: true; readonly dryRun?: true };
  readonly signatures?: 'None' | 'Range';
  readonly user?: string;
}

/** A fleet that is accepted up to its first commit, and a user whose git signs with this key. */
function createBed(signer: TestSigner | undefined, files: Readonly<Record<string, string>> = {}) {
  const { repository, commit, verify } = createSignedRepository();
  const base = commit(ann, 'first', {
    'fleet/main.ts': PROGRAM,
    'fleet/pipelines.ts': PIPELINES,
    [KEYS]: ann.entry + bob.entry,
    ...files,
  });
  const { dir } = repository;
  if (signer) {
    repository.git('config', 'gpg.format', 'ssh');
    repository.git('config', 'user.signingkey', `${signer.keyFile}.pub`);
  }
  repository.git('branch', '--quiet', '--set-upstream-to', 'origin/main');
  const approve = (request: Request = {}): Promise<ApprovalCommit> => {
    const { excluded, flags, signatures = 'Range', user = 'Ann' } = request;
    const mail = `${user.toLowerCase()}@example.com`;
    const names = { GIT_AUTHOR_NAME: user, GIT_AUTHOR_EMAIL: mail };
    const env = { ...process.env, ...names, GIT_COMMITTER_NAME: user, GIT_COMMITTER_EMAIL: mail };
    const source = { repository: `file://${repository.bare}`, ref: 'refs/heads/main', path: '.', signatures };
    const pipeline = { metadata: { name: 'fleet' }, spec: { source }, status: { head: { commit: base } } };
    const release = { spec: { commit: base, subject: 'Change the shop' } };
    const planned = {
      pipeline: pipeline as unknown as Pipeline,
      release: release as unknown as Release,
      entry: { stage: 'prod', planDigest: DIGEST, reason: 'reviewed' },
      excluded,
    };
    return commitApproval(testIo({ env }), planned, { repo: dir, ...flags });
  };
  return { repository, base, verify, approve };
}

const state = ({ repository }: ReturnType<typeof createBed>): readonly string[] => [
  repository.head(),
  repository.git('status', '--porcelain'),
];

function keyOf({ entry }: TestSigner): string {
  return sshFingerprint(Buffer.from(entry.split(' ')[2] ?? '', 'base64')).toLowerCase();
}

describe('release approve --commit', () => {
  it('S36 signs the approval with the key of its user, which sync accepts once it is pushed', async () => {
    const bed = createBed(bob);
    const { repository, base, verify, approve } = bed;
    const made = await approve({ user: 'Bob', excluded: ['ann', 'ann@example.com'] });
    expect(made).toEqual({
      outcome: 'Committed',
      commit: repository.head(),
      branch: 'main',
      repository: repository.dir,
      path: 'fleet/pipelines.ts',
      pushed: false,
      next: 'git push, then kubenode sync now',
    });
    expect(repository.git('log', '-1', '--format=%an %s %b')).toBe(
      `Bob Approve ${base.slice(0, 12)} for stage prod reviewed\n\nApproves: Change the shop`,
    );
    expect(readFileSync(join(repository.dir, 'fleet/pipelines.ts'), 'utf8')).toBe(
      PIPELINES.replace(
        '  stages',
        `  approvals: [\n    { stage: 'prod', planDigest: '${DIGEST}', reason: 'reviewed' },\n  ],\n  stages`,
      ),
    );
    expect(repository.git('rev-parse', 'origin/main')).toBe(base);
    repository.push('origin', 'HEAD');
    expect(await verify(base)).toEqual(['ok 1']);
    expect(
      await verify(base, { signers: [{ name: 'ann', keysPath: 'keys/signers', paths: ['docs'] }] }),
    ).toEqual([expect.stringContaining('for stage prod: ')]);
  });

  it('S36 changes nothing when it is run again, and pushes what was not pushed', async () => {
    const bed = createBed(bob);
    const { repository, approve } = bed;
    await approve({ user: 'Bob' });
    const before = state(bed);
    const again = await approve({ user: 'Bob', excluded: ['ann'] });
    expect([again.outcome, again.pushed, state(bed)]).toEqual(['Present', false, before]);
    const pushed = await approve({ flags: { push: true } });
    expect(pushed).toMatchObject({ outcome: 'Present', pushed: true, next: 'kubenode sync now' });
    expect(repository.git('rev-parse', 'origin/main')).toBe(repository.head());
    expect((await approve({ flags: { push: true } })).pushed).toBe(true);
  });

  it('S36 finds the place without a change by --dry-run, also with --push', async () => {
    const bed = createBed(bob);
    const before = state(bed);
    const planned = await bed.approve({ flags: { dryRun: true, push: true } });
    expect(planned).toMatchObject({ outcome: 'Planned', path: 'fleet/pipelines.ts', pushed: false });
    expect(planned).not.toHaveProperty('commit');
    expect([state(bed), bed.repository.git('rev-parse', 'origin/main')]).toEqual([before, bed.base]);
  });

  it('S36 commits without a signature where the Pipeline asks for none', async () => {
    const { repository, approve } = createBed(undefined);
    await approve({ signatures: 'None' });
    expect(repository.git('log', '-1', '--format=%G?')).toBe('N');
  });

  it.each<[what: string, request: Request, message: string]>([
    ['by name', { excluded: ['ann@example.com'] }, 'ann@example.com, as whom git commits here, has part'],
    ['by key', { user: 'Eve', excluded: [keyOf(ann)] }, keyOf(ann)],
    ['by anybody', { excluded: ['*'] }, 'not everybody who has part in these commits is known'],
  ])(
    'S36 refuses an approval that would not count as that of another person: %s',
    async (_, given, message) => {
      const bed = createBed(ann);
      const before = state(bed);
      await expect(bed.approve(given)).rejects.toThrow(
        `nothing was committed: the approval would not count: ${message}`,
      );
      expect(state(bed)).toEqual(before);
    },
  );

  it('S36 refuses an approval by another person beside commits that are not pushed', async () => {
    const bed = createBed(bob);
    writeFileSync(join(bed.repository.dir, 'more.txt'), 'more');
    bed.repository.git('add', 'more.txt');
    bed.repository.git('commit', '--quiet', '-m', 'more');
    await expect(bed.approve({ user: 'Bob', excluded: ['ann'] })).rejects.toThrow(
      'main has 1 commits that sync has not read, and an approval counts only if it is pushed alone',
    );
  });

  it('S36 refuses a working tree with changes, and leaves them', async () => {
    const bed = createBed(bob);
    const file = join(bed.repository.dir, 'fleet/pipelines.ts');
    writeFileSync(file, `${PIPELINES}// mine\n`);
    await expect(bed.approve({ user: 'Bob' })).rejects.toThrow(
      'the working tree has changes:  M fleet/pipelines.ts',
    );
    expect(readFileSync(file, 'utf8')).toBe(`${PIPELINES}// mine\n`);
  });

  it('S36 leaves no change when git cannot sign, and names the settings of git', async () => {
    const bed = createBed(undefined);
    bed.repository.git('config', 'gpg.format', 'ssh');
    bed.repository.git('config', 'user.signingkey', '/nowhere/key.pub');
    const before = state(bed);
    await expect(bed.approve()).rejects.toMatchObject({
      message: 'nothing was committed: git refused the commit',
      hint: expect.stringContaining('check gpg.format and user.signingkey of git') as unknown,
    });
    expect(state(bed)).toEqual(before);
  });

  it('S36 tells that the commit is here only when git cannot push', async () => {
    const { repository, approve } = createBed(bob);
    repository.git('config', 'remote.origin.pushurl', '/nowhere/fleet.git');
    const failed = await approve({ user: 'Bob', flags: { push: true } }).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      message: `git did not push main: ${repository.head().slice(0, 12)} is committed here only`,
      hint: expect.stringContaining('run git push') as unknown,
    });
    expect(repository.git('rev-list', '--count', 'origin/main..main')).toBe('1');
  });
});
