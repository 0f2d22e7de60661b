/** The commands of docs/guides/http-api.md as they are written there, on a real API server, and attacks on the HTTP API. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { eventually } from '../../support/eventually.ts';
import { httpsClient, type PlainAnswer, type PlainClient } from '../../support/https-client.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { type GuideShell, openGuideShell, shellBlocks } from '../support/guide-shell.ts';
import { applyFleetDefault, createMachineWithNode, readLedger } from './objects.ts';

const run = promisify(execFile);
const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'some', per: 'Cluster', risks: ['Node', 'Machine', 'Data'], max: 3 }],
  counting: { lingerSeconds: 0 },
  zones: { haltPercent: 100, minNodes: 10 },
  approval: [{ name: 'data', risks: ['Data'], approvers: ['system:serviceaccounts:oncall'] }],
};
const ASK = { machine: 'node-b01', action: 'Reboot' };

describe('the HTTP API of the Defender', () => {
  let installed: InstalledServer;
  let controllers: ChildProcess;
  let client: PlainClient;
  let shell: GuideShell;
  let environment: NodeJS.ProcessEnv;
  let folder: string;
  let port: number;
  let metricsPort: number;
  let blocks: readonly string[];

  beforeAll(async () => {
    installed = await startInstalledServer();
    shell = await openGuideShell(installed);
    ({ folder, environment } = shell);
    port = await findFreePort();
    metricsPort = await findFreePort();
    blocks = await shellBlocks({ guide: 'http-api', count: 5, printed: 8443, port });
    await applyFleetDefault(installed, POLICY);
    for (const name of ['node-a17', 'node-b01', 'node-b02']) {
      await createMachineWithNode(installed.server.client, name);
    }
    await shell.run(blocks[0]);
    startControllers();
    const caPem = await readFile(join(folder, 'defender.crt'), 'utf8');
    client = httpsClient({ url: `https://localhost:${port}`, caPem });
    await shell.run(blocks[2]);
    await kubectl('-n', 'tools', 'create', 'serviceaccount', 'other');
    await kubectl('create', 'namespace', 'oncall');
    await kubectl('-n', 'oncall', 'create', 'serviceaccount', 'olga');
    for (const [role, account] of [
      ['kubenode-grants', 'oncall:olga'],
      ['kubenode-operator', 'oncall:olga'],
      ['kubenode-operator', 'tools:drainer'],
    ]) {
      const name = `${role}-${account?.replace(':', '-')}`;
      await kubectl(
        'create',
        'clusterrolebinding',
        name,
        `--clusterrole=${role}`,
        `--serviceaccount=${account}`,
      );
    }
    const token = await tokenOf('drainer');
    const answers = async (): Promise<true | undefined> =>
      (await post('ask', token, ASK)).status === 200 || undefined;
    await eventually(answers, 'the HTTP API granted nothing', 120_000);
    await post('settle', await tokenOf('drainer'), { ...(await grantOf('node-b01')), outcome: 'Unused' });
  });

  afterAll(async () => {
    client?.close();
    if (controllers?.exitCode === null) {
      controllers.kill('SIGTERM');
      await once(controllers, 'exit');
    }
    await installed?.stop();
  });

  it('R13 grants, renews and settles by the commands of the guide', async () => {
    const lines = (await shell.run(blocks[3]))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    const { id } = lines[0] as { id: string };
    expect(lines).toMatchObject([
      { granted: true, machine: 'node-a17', action: 'Reboot', risk: 'Node' },
      { granted: true, id },
      { settled: true, id },
    ]);
    expect((await readLedger(installed.server.client)).spec.grants['node-a17']).toMatchObject({
      id,
      state: 'Settled',
      outcome: 'Succeeded',
      holder: { kind: 'Other', name: 'system:serviceaccount:tools:drainer' },
    });
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/^kubenode_defender_decisions_total\{action="Reboot",reason="Granted"\} \d+$/m);
    expect(metrics).toContain('kubenode_defender_grants{state="Settled"} ');
    const described = await client.ask('/v1/openapi.json');
    expect(JSON.parse(described.body)).toMatchObject({ openapi: '3.1.0', paths: { '/v1/ask': {} } });
  });

  it('R13 lets a person of the group answer by the command of the guide, and not the tool that asked', async () => {
    const tool = await tokenOf('drainer');
    const wipe = { machine: 'node-a17', action: 'WipeDisk' };
    expect(bodyOf(await post('ask', tool, wipe))).toMatchObject({
      granted: false,
      reason: 'ApprovalPending',
    });
    const own = { machine: 'node-a17', decision: 'Approved', reason: 'mine' };
    const refused = await post('approve', tool, own);
    expect([refused.status, bodyOf(refused)]).toMatchObject([403, { reason: 'NotApprover' }]);
    environment['PERSON_TOKEN'] = await tokenOf('olga', 'oncall');
    expect(JSON.parse(await shell.run(blocks[4]))).toMatchObject({
      decision: 'Approved',
      by: 'system:serviceaccount:oncall:olga',
    });
    expect((await post('ask', tool, wipe)).status).toBe(200);
    expect((await post('settle', tool, { ...(await grantOf('node-a17')), outcome: 'Unused' })).status).toBe(
      200,
    );
  });

  it('R13 lets a person answer with kubenode defender and a token, without the permission to act as the Defender', async () => {
    const wipe = { machine: 'node-b02', action: 'WipeDisk' };
    expect(bodyOf(await post('ask', await tokenOf('drainer'), wipe))).toMatchObject({
      reason: 'ApprovalPending',
    });
    const refuse = [
      'refuse',
      'node-b02',
      '--reason',
      'no backup',
      '-o',
      'json',
      '--http',
      `https://localhost:${port}`,
    ];
    const args = ['defender', ...refuse, '--http-ca', join(folder, 'defender.crt')];
    const asOlga = { ...environment, KUBECONFIG: await kubeconfigWith(await tokenOf('olga', 'oncall')) };
    const { stdout } = await run('kubenode', args, { env: asOlga });
    expect(JSON.parse(stdout)).toMatchObject({
      decision: 'Refused',
      by: 'system:serviceaccount:oncall:olga',
    });
    expect(bodyOf(await post('ask', await tokenOf('drainer'), wipe))).toMatchObject({
      reason: 'ApprovalRefused',
    });
    const asTool = { ...environment, KUBECONFIG: await kubeconfigWith(await tokenOf('drainer')) };
    const named = ['--action', 'WipeDisk', '--holder', 'Other/system:serviceaccount:tools:drainer'];
    await expect(run('kubenode', [...args, ...named], { env: asTool })).rejects.toMatchObject({
      code: 77,
      stderr: expect.stringContaining('is not in a group that answers for rule data') as string,
    });
    await expect(run('kubenode', args, { env: environment })).rejects.toMatchObject({
      code: 65,
      stderr: expect.stringContaining('the kubeconfig has no token') as string,
    });
  });

  it('R13 refuses callers without a token, with one for another audience, without the right, and for grants of others', async () => {
    const statuses = async (...tokens: (string | undefined)[]): Promise<readonly number[]> =>
      Promise.all(tokens.map(async (token) => (await post('ask', token, ASK)).status));
    const forServer = (await kubectl('-n', 'tools', 'create', 'token', 'drainer')).trim();
    const drainer = await tokenOf('drainer');
    const forged = `${drainer.slice(0, -6)}AAAAAA`;
    expect(await statuses(undefined, 'x', forServer, forged)).toEqual([401, 401, 401, 401]);
    expect(await statuses(await tokenOf('other'))).toEqual([403]);
    expect((await post('ask', drainer, { ...ASK, holder: { kind: 'Other', name: 'olga' } })).status).toBe(
      400,
    );

    expect((await post('ask', drainer, ASK)).status).toBe(200);
    const grant = await grantOf(ASK.machine);
    const olga = await tokenOf('olga', 'oncall');
    for (const answer of [
      await post('renew', olga, grant),
      await post('settle', olga, { ...grant, outcome: 'Unused' }),
    ]) {
      expect([answer.status, bodyOf(answer)]).toMatchObject([409, { reason: 'AskInvalid' }]);
    }
    expect((await readLedger(installed.server.client)).spec.grants[ASK.machine]).toMatchObject({
      ...grant,
      state: 'Granted',
    });
    expect((await post('settle', drainer, { ...grant, outcome: 'Unused' })).status).toBe(200);
    // A right that was taken ends with the next request.
    await kubectl('delete', 'clusterrolebinding', 'drainer');
    await expect.poll(async () => (await post('ask', drainer, ASK)).status).toBe(403);
    await kubectl(
      'create',
      'clusterrolebinding',
      'drainer',
      '--clusterrole=kubenode-grants',
      '--serviceaccount=tools:drainer',
    );
    await expect.poll(async () => (await post('ask', drainer, { ...ASK, dryRun: true })).status).toBe(200);
  });

  it('R13 answers 503 with the leader at a process that waits for the Lease', async () => {
    const waiting = await findFreePort();
    const command = (blocks[1] ?? '').replace(String(port), String(waiting));
    const child = spawn('bash', ['-c', `exec ${command} --log-level error`], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const caPem = await readFile(join(folder, 'defender.crt'), 'utf8');
    const second = httpsClient({ url: `https://localhost:${waiting}`, caPem });
    try {
      const headers = { authorization: `Bearer ${await tokenOf('drainer')}` };
      const asked = async (): Promise<object> => {
        const answer = await second.ask('/v1/ask', { method: 'POST', body: ASK, headers }).catch(noAnswer);
        return { status: answer.status, body: bodyOf(answer) };
      };
      const leader = expect.stringContaining(`-${controllers.pid}-`) as string;
      const expected = { status: 503, body: { reason: 'NotLeader', leader } };
      await expect.poll(asked).toMatchObject(expected);
      expect((await readLedger(installed.server.client)).spec.grants[ASK.machine]).toBeUndefined();
    } finally {
      second.close();
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });

  it('R13 answers with an error, and never with a grant, while the API server is down', async () => {
    const token = await tokenOf('drainer');
    expect((await post('ask', token, { ...ASK, dryRun: true })).status).toBe(200);
    await installed.server.kill();
    const known = await post('ask', token, ASK);
    const unknown = await post('ask', `${token}x`, ASK);
    expect([known.status, unknown.status]).toEqual([503, 503]);
    expect(bodyOf(known)).toMatchObject({ reason: 'ServerUnavailable' });
    await installed.server.start();
    // It ended if it lost its Lease meanwhile.
    if (controllers.exitCode !== null) startControllers();
    expect((await readLedger(installed.server.client)).spec.grants[ASK.machine]).toBeUndefined();
    await expect.poll(async () => (await post('ask', token, ASK)).status).toBe(200);
    await post('settle', token, { ...(await grantOf(ASK.machine)), outcome: 'Unused' });
  });

  /** The command of the guide, as a process. */
  function startControllers(): void {
    controllers = spawn('bash', ['-c', `exec ${blocks[1]} --log-level error --port ${metricsPort}`], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  async function post(path: string, token: string | undefined, body: object): Promise<PlainAnswer> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return await client.ask(`/v1/${path}`, { method: 'POST', body, headers }).catch(noAnswer);
  }

  async function grantOf(name: string): Promise<{ readonly id: string; readonly fence: number }> {
    const { id = '', fence = 0 } = (await readLedger(installed.server.client)).spec.grants[name] ?? {};
    return { id, fence };
  }

  async function tokenOf(account: string, namespace = 'tools'): Promise<string> {
    return (
      await kubectl('-n', namespace, 'create', 'token', account, '--audience=kubenode-defender')
    ).trim();
  }

  async function kubeconfigWith(token: string): Promise<string> {
    const file = join(tempFolder(), 'kubeconfig');
    const cluster = { server: installed.server.url, 'certificate-authority': installed.server.caFile };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    await writeFile(file, JSON.stringify(config));
    return file;
  }

  async function kubectl(...args: string[]): Promise<string> {
    return (await run('kubectl', args, { env: environment })).stdout;
  }
});

function bodyOf({ body }: PlainAnswer): object {
  return JSON.parse(body) as object;
}

/** Before the server listens. */
function noAnswer(): PlainAnswer {
  return { status: 0, headers: {}, body: '{}', bytes: Buffer.alloc(0) };
}
