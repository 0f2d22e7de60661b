/** Facts recorded from a real API server while a rule in Shadow is decided by `kubenode controllers`, and replayed afterwards. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_REMEDIERS } from '../../../src/api/generated/resources.ts';
import type { NodeRemedier } from '../../../src/api/generated/types.ts';
import { MANAGER_SYNC, PRINCIPAL_SYNC, serviceAccountUser } from '../../../src/api/names.ts';
import { replayFiles } from '../../../src/cli/commands/rules/backtest/replay-files.ts';
import type { BacktestReport } from '../../../src/cli/commands/rules/backtest/report.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { REMOVED } from '../../rules/sample-rule.ts';
import { condition, node } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { CONTROLLERS, POLICY } from '../controllers/machine-cluster.ts';
import { ACCOUNTS, applyFleetDefault, createMachineWithNode, patchNodeStatus } from '../defender/objects.ts';
import { killed, startLoggedControllers } from '../defender/processes.ts';
import { start } from './rollout-fixture.ts';

const HUNG = { fact: 'condition', params: { type: 'FrequentTaskHung' } };
const reported = (status: string): object => ({ condition: { FrequentTaskHung: { status } } });
const SHADOW = {
  '/mode': 'Shadow',
  '/target/maxMatchPercent': 100,
  '/rule/conditions': { all: [{ ...HUNG, path: '$.status', operator: 'equal', value: 'True' }] },
  '/rule/gate': REMOVED,
  '/tests': [
    { name: 'hung', expect: 'Match', given: reported('True') },
    { name: 'well', expect: 'NoMatch', given: reported('False') },
    { name: 'silent', expect: 'Indeterminate', given: {} },
  ],
};
const YOUNG = { ...POLICY, blockers: { minNodeAgeSeconds: 0 } };

const clock = createSystemClock();
let installed: InstalledServer;
let running: ChildProcess | undefined;
let logged = '';

beforeAll(async () => {
  installed = await startInstalledServer();
  await applyFleetDefault(installed, YOUNG);
  const kubeconfig = await installed.server.kubeconfigFor(CONTROLLERS);
  running = startLoggedControllers(kubeconfig, (text) => {
    logged += text;
  });
  const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
  const annotations = { 'kubenode.dev/commit': '4f2c9e1a77b0' };
  const declared = remedier(SHADOW, { name: 'hung', annotations });
  await sync.apply(NODE_REMEDIERS, declared, { fieldManager: MANAGER_SYNC });
  for (const name of ['m-1', 'm-2', 'm-3']) {
    await createMachineWithNode(installed.server.client, name, node(name)['status']);
    await report(name, 'False');
  }
});

afterAll(async () => {
  if (running) await killed(running);
  await installed?.stop();
});

async function report(machine: string, status: 'True' | 'False'): Promise<void> {
  const lastHeartbeatTime = clock.now().toISOString();
  const ready = { ...condition('Ready', 'True'), lastHeartbeatTime };
  const hung = { ...condition('FrequentTaskHung', status), lastHeartbeatTime };
  const nodeInfo = { bootID: 'boot-1' };
  await patchNodeStatus(installed.server.client, machine, { conditions: [ready, hung], nodeInfo });
}

async function rule(): Promise<NodeRemedier> {
  return await installed.server.client.get<NodeRemedier>(NODE_REMEDIERS, { name: 'hung' });
}

/** Those of the Events that tell what the rule would have done: `m-1 rung soft would begin`. */
async function shadowEvents(): Promise<readonly string[]> {
  const { items } = await installed.server.client.list(EVENTS, { namespace: 'default' });
  return items
    .filter((event) => (textAt(event, 'reason') ?? '').endsWith('Shadow'))
    .map((event) => `${textAt(event, 'regarding', 'name') ?? ''} ${textAt(event, 'note') ?? ''}`)
    .toSorted();
}

function asked({ machines }: BacktestReport): readonly string[] {
  return machines.flatMap(({ machine, cases }) =>
    cases.flatMap(({ asks }) => asks.map(({ action }) => `${machine} ${action}`)),
  );
}

describe('rules record and backtest', () => {
  it('R10 replays to what the controllers decided in Shadow, whether the Defender would have granted or denied it', async () => {
    const file = join(tempFolder('record'), 'facts.jsonl');
    const recording = start(installed, ['rules', 'record', '--to', file]);
    await expect.poll(() => recording.stderr).toContain('recording 3 nodes');

    await report('m-1', 'True');
    await expect.poll(async () => (await rule()).status?.shadow).toEqual({ wouldAct: 1, wouldDeny: 0 });
    await applyFleetDefault(installed, POLICY);
    await report('m-2', 'True');
    await expect.poll(async () => (await rule()).status?.shadow).toEqual({ wouldAct: 1, wouldDeny: 1 });
    await expect
      .poll(shadowEvents)
      .toEqual([
        expect.stringMatching(/^m-1 rule hung only shadows: rung soft would begin$/),
        expect.stringMatching(/^m-2 rule hung only shadows: rung soft would be denied as \w+$/),
      ]);
    await report('m-1', 'False');
    await expect.poll(async () => (await rule()).status?.counts?.matched).toBe(1);
    recording.interrupt();
    expect([await recording.code, recording.stderr]).toEqual([0, expect.stringContaining('recorded ')]);

    const [found] = await replayFiles(testIo(), [file], [await rule()]);
    if (!found) throw new Error('there is no report');
    expect(asked(found)).toEqual(['m-1 Reboot', 'm-2 Reboot']);
    expect(found.nodes).toMatchObject({ observed: 3, targets: 3, matched: 2, touched: 2 });
    expect(found.peak.machines).toBe(2);
    const ended = found.machines.map(({ cases }) => cases.map(({ to }) => to !== undefined));
    expect(ended).toEqual([[true], [false]]);
    expect(logged).not.toContain('reconcile failed');
  });

  it('continues a recording after a gap, and does not overwrite one', async () => {
    const file = join(tempFolder('record'), 'facts.jsonl');
    const once = start(installed, ['rules', 'record', '--to', file, '--for', '2s']);
    expect(await once.code).toBe(0);
    const again = start(installed, ['rules', 'record', '--to', file]);
    expect([await again.code, again.stderr]).toEqual([65, expect.stringContaining('--append')]);
    const appended = start(installed, ['rules', 'record', '--to', file, '--append', '--for', '2s']);
    expect(await appended.code).toBe(0);
    const [found] = await replayFiles(testIo(), [file], [await rule()]);
    expect(found?.recorded.gaps.length).toBe(1);
    expect(found?.nodes.observed).toBe(3);
  });
});
