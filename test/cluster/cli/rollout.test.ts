import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_COMPONENT_SETS } from '../../../src/api/generated/resources.ts';
import { MANAGER_SYNC, NAMESPACE } from '../../../src/api/names.ts';
import { revisionOf } from '../../../src/controllers/componentset/revision/resolve.ts';
import { CONTROLLER_REVISIONS } from '../../../src/controllers/componentset/revision/stored-revisions.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import {
  assign,
  declareMachine,
  declareSet,
  declareVersion,
  printed,
  readSet,
  reportMachine,
  reportSet,
  run,
  start,
} from './rollout-fixture.ts';

let installed: InstalledServer;
let client: Client;
const SINCE = '2030-01-01T00:00:00Z';
const COMMIT = 'c'.repeat(40);
const FROM_GIT = { manager: MANAGER_SYNC, annotations: { 'kubenode.dev/commit': COMMIT } };

beforeAll(async () => {
  installed = await startInstalledServer();
  ({ client } = installed.server);
});
afterAll(() => installed?.stop());

function condition(type: string, status: 'True' | 'False', reason: string, message = ''): object {
  return { type, status, reason, message, lastTransitionTime: SINCE };
}

const AT_WORK = {
  updateRevision: 'r-00000002',
  currentRevision: 'r-00000001',
  phase: 'Rolling',
  batch: { index: 1, of: 2, size: 2, updated: 1 },
  counts: { selected: 3, updated: 2, inProgress: 1 },
  conditions: [condition('Progressing', 'True', 'BatchFull', 'batch 2 is full')],
};
const DONE = {
  ...AT_WORK,
  phase: 'Completed',
  currentRevision: 'r-00000002',
  counts: { selected: 3, updated: 3 },
  conditions: [condition('UpToDate', 'True', 'AllDone')],
};

describe('rollout pause and resume', () => {
  it('ROL-34 pauses a set and lets it go on, and changes nothing in a dry run', async () => {
    await declareSet(client, 'paused', { kubelet: 'kubelet-1' });
    expect((await run(installed, 'rollout', 'pause', 'paused', '--dry-run')).exitCode).toBe(0);
    expect((await readSet(client, 'paused')).spec.paused).toBe(false);

    const paused = await run(installed, 'rollout', 'pause', 'paused');
    expect([paused.exitCode, paused.stderr]).toEqual([0, '']);
    expect(paused.stdout).toContain('kubenode rollout resume paused');
    expect((await readSet(client, 'paused')).spec.paused).toBe(true);
    expect((await run(installed, 'rollout', 'pause', 'paused')).stdout).toContain('is paused already');

    expect((await run(installed, 'rollout', 'resume', 'paused')).exitCode).toBe(0);
    expect((await readSet(client, 'paused')).spec.paused).toBe(false);
    expect((await run(installed, 'rollout', 'resume', 'paused')).stdout).toContain('is not paused');
  });

  it('ROL-34 pauses a set from git where git does not set the field, also against the next sync', async () => {
    await declareSet(client, 'from-git', { kubelet: 'kubelet-1' }, FROM_GIT);
    expect((await run(installed, 'rollout', 'pause', 'from-git')).exitCode).toBe(0);
    await declareSet(client, 'from-git', { kubelet: 'kubelet-2' }, FROM_GIT);
    expect((await readSet(client, 'from-git')).spec.paused).toBe(true);
  });

  it('prints what to commit where git sets the field, and changes nothing', async () => {
    await declareSet(client, 'by-git', { kubelet: 'kubelet-1' }, { ...FROM_GIT, spec: { paused: false } });
    const { exitCode, stdout, stderr } = await run(installed, 'rollout', 'pause', 'by-git');
    expect([exitCode, stdout]).toEqual([
      1,
      'commit this to MachineComponentSet by-git in the fleet repository (commit cccccccccccc):\n  spec:\n    paused: true\n',
    ]);
    expect(stderr).toContain('kubenode defender stop --scope Rollout');
    expect((await readSet(client, 'by-git')).spec.paused).toBe(false);
  });
});

describe('rollout approve', () => {
  const spec = { rollout: { gate: { approval: 'FirstBatch' } } };
  const waiting = { reason: 'ApprovalRequired', since: SINCE, message: 'batch 1 waits for approval' };

  it('ROL-02 writes the approval of the batch that waits, and of no other revision', async () => {
    await declareSet(client, 'approved', { kubelet: 'kubelet-1' }, { spec });
    await reportSet(client, 'approved', { updateRevision: 'r-00000002', batch: { index: 0 }, waiting });
    const wrong = await run(installed, 'rollout', 'approve', 'approved', '--revision', 'r-00000001');
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      65,
      expect.stringContaining('r-00000002, not r-00000001'),
    ]);

    expect((await run(installed, 'rollout', 'approve', 'approved')).exitCode).toBe(0);
    const { spec: written } = await readSet(client, 'approved');
    expect(written.rollout.approved).toEqual({ revision: 'r-00000002', throughBatch: 0 });
    expect(written.rollout.gate.approval).toBe('FirstBatch');
  });

  it('ROL-02 prints the commit where git sets the approval', async () => {
    const approved = { revision: 'r-00000001', throughBatch: 0 };
    await declareSet(
      client,
      'git-approved',
      { kubelet: 'kubelet-1' },
      {
        ...FROM_GIT,
        spec: { rollout: { ...spec.rollout, approved } },
      },
    );
    await reportSet(client, 'git-approved', { updateRevision: 'r-00000002', batch: { index: 0 }, waiting });
    const { exitCode, stdout } = await run(installed, 'rollout', 'approve', 'git-approved');
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('revision: r-00000002')]);
    expect((await readSet(client, 'git-approved')).spec.rollout.approved).toEqual(approved);
  });
});

describe('rollout undo', () => {
  it('ROL-33 prints the revert of a set from git and pauses it, and leaves its components to git', async () => {
    await declareSet(client, 'revert', { kubelet: 'kubelet-2' }, FROM_GIT);
    const { exitCode, stdout, stderr } = await run(installed, 'rollout', 'undo', 'revert');
    expect([exitCode, stdout]).toEqual([0, `git revert --no-edit ${COMMIT}\n`]);
    expect(stderr).toContain('kubenode rollout resume revert');
    const { spec } = await readSet(client, 'revert');
    expect([spec.paused, spec.components[0]?.componentRef]).toEqual([true, 'kubelet-2']);
  });

  it('ROL-33 applies the earlier revision exactly, without what the newer one added', async () => {
    const digest = await declareVersion(client, 'shell', '1');
    await declareVersion(client, 'shell', '2');
    await declareVersion(client, 'extra', '1');
    const before = {
      name: 'shell',
      componentRef: 'shell-1',
      digest,
      state: 'Present',
      parameters: { level: 'debug' },
    } as const;
    const { name: revision } = revisionOf([before]);
    await client.create(CONTROLLER_REVISIONS, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { namespace: NAMESPACE, name: `undone-${revision}` },
      revision: 1,
      data: { components: [before] },
    });
    await declareSet(client, 'undone', { shell: 'shell-2', extra: 'extra-1' });
    const history = [{ revision, components: ['shell-1'], result: 'Completed' }];
    await reportSet(client, 'undone', { ...AT_WORK, history });

    expect((await run(installed, 'rollout', 'undo', 'undone', '--dry-run')).exitCode).toBe(0);
    expect((await readSet(client, 'undone')).spec.components).toHaveLength(2);
    const { exitCode, stdout } = await run(installed, 'rollout', 'undo', 'undone');
    expect([exitCode, stdout]).toEqual([0, `undone goes back to shell 1 (${revision})\n`]);
    const { digest: _digest, ...component } = before;
    expect((await readSet(client, 'undone')).spec.components).toEqual([component]);
  });

  it('ROL-33 refuses a revision whose components have other content now', async () => {
    await declareVersion(client, 'shell', '1');
    const old = {
      name: 'shell',
      componentRef: 'shell-1',
      digest: `sha256:${'0'.repeat(64)}`,
      state: 'Present',
      parameters: {},
    } as const;
    const { name: revision } = revisionOf([old]);
    await client.create(CONTROLLER_REVISIONS, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { namespace: NAMESPACE, name: `changed-${revision}` },
      revision: 1,
      data: { components: [old] },
    });
    await declareSet(client, 'changed', { shell: 'shell-2' });
    await reportSet(client, 'changed', { ...AT_WORK, history: [{ revision, result: 'Completed' }] });
    const { exitCode, stderr } = await run(installed, 'rollout', 'undo', 'changed');
    expect([exitCode, stderr]).toEqual([
      65,
      expect.stringContaining('its components have other content now'),
    ]);
    expect((await readSet(client, 'changed')).spec.components[0]?.componentRef).toBe('shell-2');
  });
});

describe('rollout list and show', () => {
  it('shows the set, its machines in work and what its agents wait for', async () => {
    await declareSet(client, 'shown', { kubelet: 'kubelet-1' });
    await reportSet(client, 'shown', AT_WORK);
    await declareMachine(client, 'shown-1');
    const entry = { name: 'kubelet', componentRef: 'kubelet-1', digest: `sha256:${'1'.repeat(64)}` };
    await assign(installed, 'shown-1', entry, { set: 'shown', revision: 'r-00000002', batch: 1 });
    const wait = { reason: 'WaitingForDrain', since: SINCE, message: 'pod web-1 is left' };
    await reportMachine(client, 'shown-1', {
      components: [
        { name: 'kubelet', desiredRef: 'kubelet-1', state: 'WaitingForDrain', since: SINCE, waiting: wait },
      ],
    });
    const { exitCode, stdout } = await run(installed, 'rollout', 'show', 'shown');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('batch 2 is full');
    expect(stdout).toMatch(/shown-1 +kubelet-1 WaitingForDrain +\w+ +pod web-1 is left/);
    expect((await run(installed, 'rollout', 'list')).stdout).toMatch(
      /shown +Rolling +\S+ +2\/2 +2\/3 +0\s+batch 2/,
    );
    const json = await run(installed, 'rollout', 'list', '-o', 'json');
    const views = JSON.parse(json.stdout) as { set: string }[];
    expect(views.map(({ set }) => set)).toContain('shown');
  });

  it('names the sets that exist for one that does not', async () => {
    await declareSet(client, 'known', { kubelet: 'kubelet-1' });
    const { exitCode, stderr } = await run(installed, 'rollout', 'show', 'unknown');
    expect([exitCode, stderr]).toEqual([65, expect.stringMatching(/unknown does not exist[^]*known/)]);
  });
});

describe('rollout watch', () => {
  it('writes a line for each change, and ends with 0 when the rollout completed', async () => {
    await declareSet(client, 'watched', { kubelet: 'kubelet-1' });
    await reportSet(client, 'watched', AT_WORK);
    const watch = start(installed, ['rollout', 'watch', 'watched']);
    await printed(watch, 'batch 2 of 2: 1 of 2');
    await reportSet(client, 'watched', { ...AT_WORK, batch: { ...AT_WORK.batch, updated: 2 } });
    await printed(watch, 'batch 2 of 2: 2 of 2');
    await reportSet(client, 'watched', DONE);
    expect(await watch.code).toBe(0);
    expect(watch.stdout).toContain('Completed kubelet 1');
    expect(watch.stderr).toBe('');
  });

  it('states that the rollout had completed before, which a person who has just committed must know', async () => {
    await declareSet(client, 'before', { kubelet: 'kubelet-1' });
    await reportSet(client, 'before', DONE);
    const watch = await run(installed, 'rollout', 'watch', 'before');
    expect([watch.exitCode, watch.stdout]).toEqual([0, expect.stringContaining('Completed kubelet 1')]);
    expect(watch.stderr).toContain('this rollout had completed before');
  });

  it('ends with 1 when it stalls, and with 3 when it waits for a person, but not with --follow', async () => {
    await declareSet(client, 'stalled', { kubelet: 'kubelet-1' });
    const stalled = condition('Stalled', 'True', 'FailureBudgetSpent', 'machines failed: 1, allowed: 0');
    await reportSet(client, 'stalled', { ...AT_WORK, phase: 'Stalled', conditions: [stalled] });
    expect((await run(installed, 'rollout', 'watch', 'stalled')).exitCode).toBe(1);

    await declareSet(client, 'waiting', { kubelet: 'kubelet-1' });
    const waiting = { reason: 'ApprovalRequired', since: SINCE, message: 'batch 1 waits for approval' };
    await reportSet(client, 'waiting', { ...AT_WORK, phase: 'Waiting', waiting });
    expect((await run(installed, 'rollout', 'watch', 'waiting')).exitCode).toBe(3);
    const followed = start(installed, ['rollout', 'watch', 'waiting', '--follow', '-o', 'json']);
    await printed(followed, '"phase":"Waiting"');
    await reportSet(client, 'waiting', DONE);
    expect(await followed.code).toBe(0);
    const phases = followed.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { phase: string }).phase);
    expect(phases).toEqual(['Waiting', 'Completed']);
  });

  it('redraws a terminal, and ends with 130 at Ctrl-C without an error', async () => {
    await declareSet(client, 'interrupted', { kubelet: 'kubelet-1' });
    await reportSet(client, 'interrupted', AT_WORK);
    const watch = start(installed, ['rollout', 'watch', 'interrupted'], {
      screen: { columns: 80, rows: 24 },
    });
    await printed(watch, 'interrupted   Rolling');
    await reportSet(client, 'interrupted', { ...AT_WORK, phase: 'Soaking' });
    await printed(watch, '\u001B[Jinterrupted   Soaking');
    watch.interrupt();
    expect([await watch.code, watch.stderr]).toEqual([130, '']);
  });

  it('ends with 1 when the set is deleted', async () => {
    await declareSet(client, 'deleted', { kubelet: 'kubelet-1' });
    await reportSet(client, 'deleted', AT_WORK);
    const watch = start(installed, ['rollout', 'watch', 'deleted']);
    await printed(watch, 'batch 2 of 2');
    const { metadata } = await readSet(client, 'deleted');
    await client.delete(MACHINE_COMPONENT_SETS, { name: 'deleted' }, { uid: metadata.uid ?? '' });
    expect([await watch.code, watch.stderr]).toEqual([1, expect.stringContaining('deleted was deleted')]);
  });
});
