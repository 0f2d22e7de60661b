import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { commitEntries, type EntriesCommit } from '../../../src/cli/commit/commit-entries.ts';
import { createTestRepository, type TestRepository } from '../../support/git-server/repository.ts';
import { tempFolder } from '../../support/temp.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NAMES = { GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'ann@example.com' };
const USER = { ...NAMES, GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@example.com' };
const ENTRY = { unit: 'web', planDigest: `sha256:${'b'.repeat(64)}`, reason: 'moved' };
const PROGRAM = `import { Fleet } from 'kubenode/constructs';
import { spec } from './pipelines.ts';
const fleet = new Fleet();
fleet.pipeline('fleet', spec);
fleet.synth();
`;
const PIPELINES = `export const unrelated = {
  stages: [],
};
export const spec = {
  source: { repository: 'https://git.example.com/fleet' },
  stages: [{ name: 'test', clusterSelector: { all: true } }],
};
`;

function created(pipelines: string): TestRepository {
  const repository = createTestRepository(tempFolder('fleet'));
  repository.commit('first', { 'fleet/main.ts': PROGRAM, 'fleet/pipelines.ts': pipelines });
  return repository;
}

type Change = Omit<EntriesCommit, 'pipeline'>;

async function commitChange({ dir }: TestRepository, change: Change, more: object = {}): Promise<TestIo> {
  const io = testIo({ env: { ...process.env, ...USER } });
  const source = { repository: `file://${dir}`, ref: 'refs/heads/main', path: '.', ...more };
  const pipeline = { metadata: { name: 'fleet' }, spec: { source } } as unknown as Pipeline;
  await commitEntries(io, dir, { pipeline, ...change });
  return io;
}

async function commitTo(repository: TestRepository, more: object = {}): Promise<TestIo> {
  const subject = 'Acknowledge the deletes of unit web in test';
  const change = { list: 'acknowledgements', entries: [ENTRY], subject, reason: ENTRY.reason } as const;
  return await commitChange(repository, change, more);
}

async function commitFreeze(
  repository: TestRepository,
  entry: Readonly<Record<string, string>>,
): Promise<void> {
  await commitChange(repository, {
    list: 'freezes',
    entries: [entry],
    subject: 'Freeze the fleet',
    reason: 'why',
  });
}

describe('commitEntries', () => {
  it('commits an approval to the example fleet, and changes nothing else of it', async () => {
    const repository = createTestRepository(tempFolder('fleet'));
    for (const name of ['fleet', 'rules', 'cdk8s.yaml']) {
      cpSync(join(ROOT, name), join(repository.dir, name), { recursive: true });
    }
    repository.commit('example');
    const file = join(repository.dir, 'fleet/pipelines.ts');
    const before = readFileSync(file, 'utf8').split('\n');
    const entry = { stage: 'prod', planDigest: ENTRY.planDigest, reason: 'reviewed' };
    await commitChange(repository, {
      list: 'approvals',
      entries: [entry],
      subject: 'Approve prod',
      reason: entry.reason,
    });
    const after = readFileSync(file, 'utf8').split('\n');
    expect(after.filter((line) => !before.includes(line)).join(' ')).toContain(entry.planDigest);
    expect(before.filter((line) => !after.includes(line))).toEqual([]);
    expect(repository.git('show', '--name-only', '--format=%an %s')).toBe(
      'Ann Approve prod\n\nfleet/pipelines.ts',
    );
  });

  it('commits the entry where the Pipeline is declared, as the user, and prints what is next', async () => {
    const repository = created(PIPELINES);
    const { stdout } = await commitTo(repository);
    const { dir } = repository;
    expect(stdout).toBe(
      `committed ${repository.head().slice(0, 12)} to main of ${dir}: fleet/pipelines.ts\nnext: kubenode sync now\n`,
    );
    expect(readFileSync(join(dir, 'fleet/pipelines.ts'), 'utf8')).toBe(
      PIPELINES.replace(
        '  stages: [{',
        `  acknowledgements: [\n    { unit: 'web', planDigest: '${ENTRY.planDigest}', reason: 'moved' },\n  ],\n  stages: [{`,
      ),
    );
    expect(repository.git('log', '-1', '--format=%an %s %b')).toBe(
      'Ann Acknowledge the deletes of unit web in test moved',
    );
    expect([repository.git('status', '--porcelain'), repository.git('rev-list', '--count', 'HEAD')]).toEqual([
      '',
      '2',
    ]);
    // Nothing was pushed.
    expect(repository.git('rev-list', '--count', 'origin/main')).toBe('1');

    await expect(commitTo(repository)).rejects.toThrow(
      `nothing was committed: the repository has this entry of spec.acknowledgements already: planDigest ${ENTRY.planDigest}`,
    );
  });

  it('S36 commits a freeze, which kubenode freeze declares', async () => {
    const repository = created(PIPELINES);
    const { dir } = repository;
    const times = { from: '2030-12-20T17:00:00Z', until: '2031-01-03T06:00:00Z' };
    await commitFreeze(repository, { name: 'x-mas', ...times, reason: "it's over" });
    expect(readFileSync(join(dir, 'fleet/pipelines.ts'), 'utf8')).toContain(
      `  freezes: [\n    { name: 'x-mas', from: '${times.from}', until: '${times.until}', reason: "it's over" },\n  ],\n`,
    );
  });

  it('S36 refuses a second freeze of one name, also where sync has not read the first one', async () => {
    const repository = created(PIPELINES);
    const freeze = { name: 'freeze-2030-12-20', from: '2030-12-20T17:00:00Z', until: '2031-01-03T06:00:00Z' };
    await commitFreeze(repository, { ...freeze, reason: 'holidays' });
    const head = repository.head();
    await expect(
      commitFreeze(repository, { ...freeze, until: '2031-02-01T00:00:00Z', reason: 'audit' }),
    ).rejects.toMatchObject({
      message:
        'nothing was committed: the repository has this entry of spec.freezes already: name freeze-2030-12-20',
      hint: 'push it, if sync has not read it yet; to declare another freeze, give it another --name',
    });
    expect([repository.head(), repository.git('status', '--porcelain')]).toEqual([head, '']);
    await commitFreeze(repository, { ...freeze, name: 'audit', reason: 'audit' });
    expect(repository.head()).not.toBe(head);
  });

  it('changes no file outside of the repository that a symbolic link names', async () => {
    const text = PIPELINES.replace('  stages: [{', "  ['sta' + 'ges']: [{");
    const repository = created(text);
    const outside = join(tempFolder('outside'), 'pipelines.ts');
    writeFileSync(outside, PIPELINES, { mode: 0o444 });
    const { mtimeMs } = statSync(outside);
    symlinkSync(outside, join(repository.dir, 'fleet/a-link.ts'));
    symlinkSync('nowhere', join(repository.dir, 'fleet/dangling.ts'));
    repository.git('add', '--all');
    repository.git('commit', '--quiet', '-m', 'links');
    await expect(commitTo(repository)).rejects.toThrow('no place was found for spec.acknowledgements');
    expect(statSync(outside).mtimeMs).toBe(mtimeMs);
  });

  it('leaves the repository as it was where no place is found', async () => {
    const text = PIPELINES.replace('  stages: [{', "  ['sta' + 'ges']: [{");
    const repository = created(text);
    await expect(commitTo(repository)).rejects.toThrow('no place was found for spec.acknowledgements');
    expect(readFileSync(join(repository.dir, 'fleet/pipelines.ts'), 'utf8')).toBe(text);
    expect([repository.git('status', '--porcelain'), repository.git('rev-list', '--count', 'HEAD')]).toEqual([
      '',
      '1',
    ]);
  });

  it('leaves the repository as it was where a hook of the user refuses the commit', async () => {
    const repository = created(PIPELINES);
    const hook = join(repository.dir, '.git/hooks/pre-commit');
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\necho "not today" >&2\nexit 1\n', { mode: 0o755 });
    await expect(commitTo(repository)).rejects.toMatchObject({
      message: 'nothing was committed: git refused the commit',
      hint: 'see what git printed: not today',
    });
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('names the branch where another one is synced', async () => {
    const repository = created(PIPELINES);
    repository.git('checkout', '--quiet', '-b', 'topic');
    expect((await commitTo(repository)).stdout).toContain(
      'next: push topic, and bring it to refs/heads/main, for example by a pull request\n',
    );
  });
});
