/** `kubenode sync now` with a sync that would poll an hour later. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

async function now(...flags: string[]): Promise<TestIo & { readonly code: number }> {
  const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
  const code = await runCommandLine(io, ['sync', 'now', ...flags]);
  return Object.assign(io, { code });
}

describe('kubenode sync now', () => {
  it('brings a commit to the clusters before the next poll, and prints the head', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    const hourly = { type: 'merge', body: { spec: { source: { pollSeconds: 3600 } } } } as const;
    await fleet.hub.client.patch(PIPELINES, { name: 'fleet' }, hourly, { fieldManager: 'anna' });
    await fleet.sync('one');
    await fleet.allProven(first);

    const bump = fleet.commit('2', 'bump');
    const { code, stdout } = await now('--pipeline', 'fleet');
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^pipeline fleet: head ${bump}, (Accepted|Rendering)\n$`));
    await fleet.allProven(bump);
  });

  it('names what to start where no sync runs', async () => {
    await fleet.pipeline();
    const other = await now('--pipeline', 'other');
    expect([other.code, other.stderr]).toEqual([65, expect.stringContaining('use one of: fleet')]);
    await expect
      .poll(async () => (await now()).stderr, { interval: 500 })
      .toMatch(/nothing syncs pipeline fleet: .*Start it: kubenode sync/);
  });
});
