import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import { MANAGER_SYNC } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { startHub } from './hub-fixture.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startHub();
});
afterAll(() => installed?.stop());

async function run(...args: string[]): Promise<TestIo & { code: number }> {
  const io = testIo({ env: { KUBECONFIG: installed.server.kubeconfig } });
  const code = await runCommandLine(io, args);
  return Object.assign(io, { code });
}

const TIMES = ['--from', '2020-12-20T18:00+01:00', '--until', '2120-01-03T06:00Z'];
const ENTRY =
  '{"name":"freeze-2020-12-20","from":"2020-12-20T17:00:00Z","until":"2120-01-03T06:00:00Z","reason":"end of year"}';

describe('freeze', () => {
  it('S36 prints an entry that the hub accepts, and that status shows as closed now', async () => {
    const printed = await run('freeze', ...TIMES, '--reason', 'end of year');
    expect([printed.code, printed.stdout]).toEqual([0, `freezes: [\n  ${ENTRY},\n],\n`]);
    expect(printed.stderr).toBe('Add this to spec.freezes of Pipeline fleet and commit it:\n');

    const { client } = installed.server;
    const { spec } = await client.get<{ spec: object }>(PIPELINES, { name: 'fleet' });
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: PIPELINES.kind,
      metadata: { name: 'fleet' },
      spec: { ...spec, freezes: [JSON.parse(ENTRY) as object] },
    };
    await client.apply(PIPELINES, object, { fieldManager: MANAGER_SYNC, force: true });
    expect((await run('status')).stdout).toMatch(
      /Pipeline fleet: closed now by freeze freeze-2020-12-20 for another \d+d: end of year/,
    );
    const again = await run('freeze', ...TIMES, '--reason', 'again');
    expect([again.code, again.stderr]).toEqual([
      65,
      expect.stringContaining('Pipeline fleet has a freeze freeze-2020-12-20 already') as string,
    ]);
  });

  it('S36 refuses a time without a zone, which two people would read as two moments', async () => {
    const refused = await run('freeze', '--until', '2120-01-03T06:00', '--reason', 'x');
    expect([refused.code, refused.stdout]).toEqual([64, '']);
    expect(refused.stderr).toContain('Expected a time with a zone, such as 2030-12-20T18:00Z');
  });
});
