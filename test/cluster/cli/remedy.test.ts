/** Repair jobs on a real API server with every policy, with the status that their controllers would write. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { MANAGER_CLI } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { createRepairFixture, type RepairFixture } from './repair-fixture.ts';
import { declareMachine, printed, run, start } from './rollout-fixture.ts';

let installed: InstalledServer;
let client: Client;
let repairs: RepairFixture;

beforeAll(async () => {
  installed = await startInstalledServer();
  ({ client } = installed.server);
  repairs = await createRepairFixture(installed);
});
afterAll(() => installed?.stop());

/** A job that restarts the kubelet of a new machine. */
async function startJob(machine: string): Promise<string> {
  await declareMachine(client, machine);
  return await repairs.startRepair(machine);
}

const read = (name: string): Promise<RemedyOperationJob> =>
  client.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { name });

const waits = (reason: string): object => ({
  phase: 'Waiting',
  waiting: { reason, since: '2030-01-01T00:00:00Z', message: 'shop/cart-0' },
});

describe('remedy', () => {
  it('R29 lists and shows jobs with the reason that each waits for, as a table and for programs', async () => {
    const name = await startJob('listed');
    await repairs.reportRepair(name, waits('PodDisruptionBudget'));

    const listed = await run(installed, 'remedy', 'list', '--machine', 'listed');
    expect([listed.exitCode, listed.stderr]).toEqual([0, '']);
    expect(listed.stdout).toMatch(/listed +by-hand +by-hand +Waiting/);
    expect(listed.stdout).toContain('PodDisruptionBudget');
    expect((await run(installed, 'remedy', 'list', '--machine', 'listed', '--phase', 'failed')).stdout).toBe(
      'no repair jobs\n',
    );
    const json = await run(installed, 'remedy', 'list', '--machine', 'listed', '-o', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({ total: 1, jobs: [{ job: name, phase: 'Waiting' }] });

    const shown = await run(installed, 'remedy', 'show', name);
    expect(shown.stdout).toMatch(/granted .*g-hand-/);
    expect(shown.stdout).toContain('s1 RestartService@v1');
    const missing = await run(installed, 'remedy', 'show', 'missing');
    expect([missing.exitCode, missing.stderr.includes(name)]).toEqual([65, true]);
  });

  it('cancels a job in the name of the person, once, and changes nothing in a dry run', async () => {
    const name = await startJob('cancelled');
    const cancel = ['remedy', 'cancel', name, '--reason', 'the disk is being changed'];
    expect((await run(installed, ...cancel, '--dry-run')).exitCode).toBe(0);
    expect((await read(name)).spec.cancel).toBeUndefined();

    const { exitCode, stdout, stderr } = await run(installed, ...cancel);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`${name} is cancelled.`);
    const { spec, metadata } = await read(name);
    expect(spec.cancel).toMatchObject({
      reason: 'the disk is being changed',
      by: expect.any(String) as string,
    });
    expect(metadata.managedFields?.some(({ manager }) => manager === MANAGER_CLI)).toBe(true);

    const again = await run(installed, 'remedy', 'cancel', name, '--reason', 'another');
    expect([again.exitCode, again.stdout.includes('cancelled already')]).toEqual([0, true]);
  });

  it('does not cancel a job that has ended', async () => {
    const name = await startJob('ended');
    await repairs.repairer.finish(name, 'Succeeded');
    await repairs.reportRepair(name, { phase: 'Succeeded', outcome: { class: 'Succeeded' } });
    const { exitCode, stdout } = await run(installed, 'remedy', 'cancel', name, '--reason', 'x');
    expect([exitCode, stdout]).toEqual([0, `${name} has ended already: Succeeded\n`]);
    expect((await read(name)).spec.cancel).toBeUndefined();
  });

  it('follows a job until it succeeds, with a line for each change', async () => {
    const name = await startJob('followed');
    const watching = start(installed, ['remedy', 'watch', name]);
    await printed(watching, `${name}: granted at `);
    await repairs.reportRepair(name, { phase: 'Running', steps: [{ id: 's1', state: 'Running', tries: 1 }] });
    await printed(watching, `${name}: s1 RestartService@v1 Running`);
    await repairs.reportRepair(name, {
      phase: 'Succeeded',
      steps: [{ id: 's1', state: 'Succeeded', tries: 1 }],
      outcome: { class: 'Succeeded', reason: 'Verified' },
    });
    expect(await watching.code).toBe(0);
    expect(watching.stdout).toContain(`${name}: outcome Succeeded: Verified\n`);
  });

  it.each([
    ['Failed', { phase: 'Failed', outcome: { class: 'Permanent' } }, 1],
    ['ApprovalRequired', waits('ApprovalRequired'), 3],
  ])('ends with an exit code of its own: %s', async (reason, status, code) => {
    const name = await startJob(`code-${code}`);
    await repairs.reportRepair(name, status);
    const { exitCode, stdout } = await run(installed, 'remedy', 'watch', name, '-o', 'json');
    expect([exitCode, stdout.includes(reason)]).toEqual([code, true]);
  });

  it('follows all jobs, also one that begins later, until it is interrupted', async () => {
    const watching = start(installed, ['remedy', 'watch', '--machine', 'later']);
    const name = await startJob('later');
    await printed(watching, `${name}: granted at `);
    watching.interrupt();
    expect(await watching.code).toBe(130);
    expect(watching.stdout).not.toContain('listed');
  });

  it('R11 explains a job by its rule and commit, also when the rule was removed', async () => {
    const name = await startJob('explained');
    const { exitCode, stdout } = await run(installed, 'why', 'job', name);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('rule       by-hand of commit by-hand: the rule was removed since');
    const json = await run(installed, 'why', 'job', name, '-o', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      job: name,
      rule: { name: 'by-hand', state: 'NotFound' },
    });
  });
});
