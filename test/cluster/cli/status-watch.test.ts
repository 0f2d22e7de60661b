import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HubStatus } from '../../../src/views/status/hub-status.ts';
import { eventually } from '../../support/eventually.ts';
import { drop } from '../../support/fault-proxy/faults.ts';
import { faultProxy } from '../../support/fault-proxy.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { declareCluster, reportCluster, startHub } from './hub-fixture.ts';
import { type CliRun, printed, start } from './rollout-fixture.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startHub();
});
afterAll(() => installed?.stop());

const SCREEN = { columns: 80, rows: 50 };

describe('kubenode status --watch', () => {
  it('writes a line for each change, of equal clusters together, and ends with 0 at Ctrl-C', async () => {
    const { client } = installed.server;
    const stage = 'lines';
    await declareCluster(client, 'one', { stage, state: 'Applying', message: 'applies' });
    await declareCluster(client, 'two', { stage, state: 'Applying', message: 'applies' });
    const watch = start(installed, ['status', '--watch']);
    const before = 'stage lines: 2 clusters one and two: Applying -: applies';
    await printed(watch, `${before}\n`);
    await reportCluster(client, 'two', { stage, state: 'Failed', message: 'image not found' });
    const after = 'stage lines: cluster two: Failed -, sync unknown: image not found';
    await printed(watch, `${after}\n`);
    const lines = watch.stdout.split('\n').filter((line) => line.startsWith('stage lines'));
    expect(lines).toEqual([before, after]);
    watch.interrupt();
    expect([await watch.code, watch.stderr]).toEqual([0, '']);
  });

  it('writes a JSON document a line, each the whole status', async () => {
    const { client } = installed.server;
    await declareCluster(client, 'json', { stage: 'json', state: 'Paused' });
    const watch = start(installed, ['status', '--watch', '-o', 'json']);
    await printed(watch, '"state":"Paused"');
    await reportCluster(client, 'json', { stage: 'json', state: 'Ahead' });
    await printed(watch, '"state":"Ahead"');
    watch.interrupt();
    expect(await watch.code).toBe(0);
    const documents = watch.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as HubStatus);
    expect(documents.map(({ pipelines }) => pipelines.map(({ name }) => name))).toEqual([
      ['fleet'],
      ['fleet'],
    ]);
    const states = documents.map(({ clusters }) => clusters.find(({ name }) => name === 'json')?.state);
    expect(states).toEqual(['Paused', 'Ahead']);
  });

  it('redraws a terminal, shows a lost connection, and goes on when the server answers again', async () => {
    const { client } = installed.server;
    await declareCluster(client, 'lost', { stage: 'lost', state: 'Applying' });
    const proxy = await faultProxy(installed.server);
    await proxy.listen({ name: 'same', server: installed.server });
    try {
      const throughProxy = { server: { ...installed.server, kubeconfig: proxy.kubeconfig } };
      const watch = start(throughProxy, ['status', '--watch'], { screen: SCREEN });
      await showsLast(watch, /^(?!!)[^]*Applying +\d+s +- +lost/);
      proxy.on({ fault: drop('before') });
      proxy.swap('default', 'same', { cutOpen: true });
      await showsLast(
        watch,
        /^! retrying, with the last state that was read: .*\n[^]*Applying +\d+s +- +lost/,
      );
      proxy.reset();
      await reportCluster(client, 'lost', { stage: 'lost', state: 'Proven' });
      await showsLast(watch, /^(?!!)[^]*Proven +\d+s +- +lost/);
      watch.interrupt();
      expect([await watch.code, watch.stderr]).toEqual([0, '']);
    } finally {
      await proxy.close();
    }
  });
});

/** The last frame that was drawn. */
async function showsLast(watch: CliRun, what: RegExp): Promise<void> {
  const frame = (): string => watch.stdout.split('\u001B[J').at(-1) ?? '';
  await eventually(() => Promise.resolve(what.test(frame()) || undefined), `not ${String(what)}`);
}
