import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/run.ts';
import { createEmptyLease, formatMicroTime, LEASES } from '../../../src/kube/leader/record.ts';
import type { Clock } from '../../../src/os/clock.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { pipelineLease } from '../../../src/sync/hub/pipeline/lease.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { startHub } from './hub-fixture.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startHub();
});
afterAll(() => installed?.stop());

const HOUR_MS = 3_600_000;

/** The clock of this machine is an hour ahead. */
function wrongClock(): Clock {
  const clock = createSystemClock();
  return { ...clock, now: () => new Date(clock.now().getTime() + HOUR_MS) };
}

async function renewed(ago: number, holder: string | undefined): Promise<void> {
  const now = new Date(createSystemClock().now().getTime() - ago);
  const name = pipelineLease('fleet');
  const lease = {
    ...createEmptyLease(name),
    spec: { holderIdentity: holder, leaseDurationSeconds: 15, renewTime: formatMicroTime(now) },
  };
  await installed.server.client.apply(LEASES, lease, { fieldManager: 'test', force: true });
}

async function status(clock = createSystemClock(), command = ['status']): Promise<TestIo & { code: number }> {
  const io = testIo({ env: { KUBECONFIG: installed.server.kubeconfig }, clock });
  const code = await runCommandLine(io, command);
  return Object.assign(io, { code });
}

async function complete(...words: string[]): Promise<string[]> {
  const { stdout } = await status(createSystemClock(), ['completion', '--words', '--', ...words]);
  return stdout.trim().split('\n');
}

describe('kubenode status', () => {
  it('FST-1 begins with the pipelines that no process syncs, and exits with 1', async () => {
    await renewed(3.5 * HOUR_MS, 'host-1');
    const { code, stdout } = await status();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^nothing syncs pipeline fleet: host-1 last renewed Lease kubenode-system\/pipeline-fleet 3h ago\. Start it: kubenode sync\n/,
    );
  });

  it('FST-7 exits with the same code and reasons from the list of releases', async () => {
    const list = ['release', 'list'];
    await renewed(3.5 * HOUR_MS, 'host-1');
    const { code, stderr } = await status(createSystemClock(), list);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^a person is needed: nothing syncs pipeline fleet: host-1 /),
    ]);
    await renewed(0, 'host-1');
    expect((await status(createSystemClock(), list)).code).toBe(0);
  });

  it('FST-1 believes the clock of the server, not a wrong one of this machine', async () => {
    await renewed(0, 'host-1');
    const { code, stdout } = await status(wrongClock());
    // Nothing is promoted in this hub.
    expect([code, stdout]).toEqual([2, expect.stringMatching(/^PIPELINE /)]);
  });

  it('completes the names of the objects that a command takes', async () => {
    expect(await complete('release', 'halt')).toContain('fleet');
    expect(await complete('release', 'list', '--pipeline')).toEqual(['fleet']);
    const flags = ['--kubeconfig', installed.server.kubeconfig];
    expect(await complete('history', ...flags)).toEqual(expect.arrayContaining(['--output']));
  });
});
