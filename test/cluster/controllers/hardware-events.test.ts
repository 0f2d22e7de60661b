/** The commands of docs/guides/hardware-events.md as they are printed there, on a real API server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MACHINES, MAINTENANCE_EVENTS } from '../../../src/api/generated/resources.ts';
import type { MaintenanceEvent } from '../../../src/api/generated/types.ts';
import { PRINCIPAL_HOSTDOCTOR, serviceAccountUser } from '../../../src/api/names.ts';
import { hostdoctorRights } from '../../../src/api/roles/controllers.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { createWebhookSecrets } from '../../../src/controllers/hostdoctor/intake/secret.ts';
import {
  createReportRecorder,
  type HardwareReportOutcome,
} from '../../../src/controllers/hostdoctor/report/execute.ts';
import type { MaintenanceReport } from '../../../src/controllers/hostdoctor/report/parse.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault } from '../defender/objects.ts';
import { killed } from '../defender/processes.ts';
import { type GuideShell, openGuideShell, shellBlocks } from '../support/guide-shell.ts';
import { POLICY } from './machine-cluster.ts';
import { rightInForce, rightsIn, rightTo, withoutRight } from './rights.ts';

const clock = createSystemClock();
const RIGHTS = rightsIn(hostdoctorRights);
const FUTURE = '2099-12-01T02:00:00Z';

let installed: InstalledServer;
let account: Client;
let controllers: ChildProcess;
let shell: GuideShell;
let port: number;
let blocks: readonly string[];
let logged = '';

beforeAll(async () => {
  installed = await startInstalledServer();
  await applyFleetDefault(installed, POLICY);
  account = await installed.as(serviceAccountUser(PRINCIPAL_HOSTDOCTOR), ACCOUNTS);
  shell = await openGuideShell(installed);
  mkdirSync(join(shell.folder, 'events'));
  port = await findFreePort();
  blocks = await shellBlocks({ guide: 'hardware-events', count: 4, printed: 8082, port });
  await Promise.all(['n17', 'n18'].map(createMachine));
  await shell.run(blocks[0]);
  controllers = spawn('bash', ['-c', `exec ${blocks[1]}`], {
    cwd: shell.folder,
    env: shell.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  controllers.stderr?.on('data', (chunk: Buffer) => {
    logged += chunk.toString();
  });
  await eventually(answers, 'the port of maintenance events does not answer', 120_000);
});

afterAll(async () => {
  await killed(controllers);
  await installed?.stop();
});

async function createMachine(name: string): Promise<void> {
  const spec = { infra: { provider: 'local' }, host: { type: 'sandbox' }, components: [] };
  await installed.server.client.create(MACHINES, {
    apiVersion: API_VERSION,
    kind: 'Machine',
    metadata: { name },
    spec,
  });
}

function url(): string {
  return `http://127.0.0.1:${port}/maintenance`;
}

async function answers(): Promise<true | undefined> {
  const answer = await fetch(url()).catch(() => undefined);
  return answer?.status === 405 || undefined;
}

/** As a library of Standard Webhooks sends it. */
async function send(content: object, ageSeconds = 0): Promise<string> {
  const body = JSON.stringify(content);
  const timestamp = String(Math.floor(clock.now().getTime() / 1000) - ageSeconds);
  const secret = (await readFile(join(shell.folder, 'maintenance-secret'), 'utf8')).trim();
  const signature = createHmac('sha256', secret).update(`msg.${timestamp}.${body}`).digest('base64');
  const headers = {
    'webhook-id': 'msg',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const answer = await fetch(url(), { method: 'POST', body, headers });
  return `${answer.status} ${(await answer.text()).trim()}`;
}

function report(changes: Partial<MaintenanceReport> = {}): MaintenanceReport {
  const fields = { type: 'Reboot', state: 'Scheduled', hint: false, notBefore: FUTURE } as const;
  return { eventID: 'test', machine: 'n18', ...fields, ...changes };
}

async function shown(name: string): Promise<string> {
  const { spec, status } = await installed.server.client.get<MaintenanceEvent>(MAINTENANCE_EVENTS, { name });
  return [spec.state, status?.phase, status?.waiting?.reason].filter(Boolean).join(' ');
}

async function record(changes: Partial<MaintenanceReport>, seconds = 0): Promise<HardwareReportOutcome> {
  const now = clock.now();
  const reportedAt = new Date(+now + seconds * 1000);
  return await createReportRecorder(account).record({ report: report(changes), now, reportedAt });
}

describe('MAC-39 events of hardware systems', () => {
  it('become MaintenanceEvents by the commands of the guide, by HTTP and as a file', async () => {
    expect(await shell.run(blocks[2])).toBe('recorded: MaintenanceEvent local-psu-7\n');
    await expect.poll(() => shown('local-psu-7')).toBe('Scheduled Pending TooEarly');
    expect(await shell.run(blocks[2])).toMatch(/^received before/);
    await shell.run(blocks[3]);
    await expect
      .poll(() => shown('local-fan-3').catch(() => 'missing'))
      .toBe('Scheduled Prepared EventNotOver');
    expect(readdirSync(join(shell.folder, 'events'))).toEqual(['fan-3.json']);
    expect(logged).toContain('maintenance event received');
  });

  it('are settled when they are taken back, and cannot begin again', async () => {
    const event = report({ eventID: 'back' });
    expect(await send(event)).toBe('202 recorded: MaintenanceEvent local-back');
    await expect.poll(() => shown('local-back')).toBe('Scheduled Pending TooEarly');
    expect(await send({ ...event, state: 'Cancelled' })).toBe('202 recorded: MaintenanceEvent local-back');
    await expect.poll(() => shown('local-back')).toBe('Cancelled Done');
    expect(await send(event)).toMatch(/^409 MaintenanceEvent local-back is Cancelled/);
  });

  it('are Inconsistent after a state that cannot follow, and ignored when they are late', async () => {
    const event = report({ eventID: 'odd', state: 'Executing' });
    expect(await send(event, 60)).toMatch(/^202 recorded/);
    await expect.poll(() => shown('local-odd')).toBe('Executing Pending TooEarly');
    expect(await send({ ...event, state: 'Inquiring' }, 90)).toMatch(/^202 ignored/);
    expect(await send({ ...event, state: 'Inquiring' }, 30)).toMatch(/^202 recorded/);
    await expect.poll(() => shown('local-odd')).toBe('Inquiring Pending Inconsistent');
  });

  it('name what is wrong with them, also what only the API server finds', async () => {
    expect(await send(report({ machine: 'n99' }))).toMatch(/^422 Machine n99 does not exist/);
    expect(await send({ ...report(), typ: 1 })).toMatch(/^422 invalid: typ: unknown field/);
    expect(await send(report({ eventID: 'hint', hint: true }))).toMatch(/^409 .*a hint needs ttlSeconds/);
    expect(await send(report({ eventID: 'late', deadline: '2030-01-01T00:00:00Z' }))).toMatch(
      /^409 .*deadline must not be earlier than notBefore/,
    );
    expect(await send(report(), 301)).toMatch(/^401 the signature does not match/);
  });

  it('are compared and swapped: of twenty reports at the same time the last one counts', async () => {
    const sent = Array.from({ length: 20 }, (_, index) =>
      record({ eventID: 'race', details: `report ${index}` }, index).catch(() => undefined),
    );
    await Promise.all(sent);
    await record({ eventID: 'race', details: 'report 19' }, 19);
    const { spec } = await installed.server.client.get<MaintenanceEvent>(MAINTENANCE_EVENTS, {
      name: 'local-race',
    });
    expect(spec.details).toBe('report 19');
  });

  it.each(['get machines', 'update maintenanceevents'])(
    'are not recorded without the right to %s',
    async (text) => {
      const eventID = text.replace(' ', '-');
      await record({ eventID });
      const right = rightTo(RIGHTS, text);
      const giveBack = await withoutRight(installed.server.client, PRINCIPAL_HOSTDOCTOR, right);
      onTestFinished(giveBack);
      await rightInForce(account, right, false);
      await expect(record({ eventID, details: 'more' }, 3)).rejects.toThrow(/forbidden/);
      await giveBack();
      await rightInForce(account, right, true);
      expect(await record({ eventID, details: 'more' }, 3)).toEqual({
        type: 'Recorded',
        event: `local-${eventID}`,
      });
    },
  );

  it('are verified with the one Secret that the account may read', async () => {
    const log = memoryLog();
    const right = rightTo(RIGHTS, 'get secrets');
    expect(await createWebhookSecrets({ client: account, clock, log })()).toHaveLength(1);
    const giveBack = await withoutRight(installed.server.client, PRINCIPAL_HOSTDOCTOR, right);
    onTestFinished(giveBack);
    await rightInForce(account, right, false);
    expect(await createWebhookSecrets({ client: account, clock, log })()).toBeUndefined();
    expect(JSON.stringify(log.lines)).toMatch(/secrets.*forbidden/);
  });
});
