/**
 * Each right of the account of the Defender is taken away from `kubenode controllers`, which then logs or answers that it misses
 * it. The one to create the ledger is in process.test.ts: a ledger that was created again grants little for some time.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  FLEET_ALLOWANCES,
  MACHINE_SETS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../../src/api/generated/resources.ts';
import {
  FLEET_ALLOWANCE,
  LABEL_BLOCK,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_SYNC,
  ROLE_GRANTS,
  serviceAccountUser,
} from '../../../../src/api/names.ts';
import { defenderRights } from '../../../../src/api/roles/controllers.ts';
import { LEASES } from '../../../../src/kube/leader/record.ts';
import { NAMESPACES, NODES, PODS } from '../../../../src/kube/objects/core-kinds.ts';
import { createAuthority, issueCertificate } from '../../../../src/local/pki/certificate.ts';
import { findFreePort } from '../../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { httpsClient, type PlainAnswer, type PlainClient } from '../../../support/https-client.ts';
import { remedier } from '../../../support/remediers.ts';
import { slice } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';
import { RBAC } from '../../api/permission-table.ts';
import { resources } from '../../api/resources.ts';
import { ACCOUNTS, applyFleetDefault, applyPolicy, createMachineWithNode } from '../../defender/objects.ts';
import { ensureAccount } from '../budgeted-pod.ts';
import { expectedMisses, rightsIn, rightTo, textOf } from '../rights.ts';
import { READS, type RightsBed, removeAtOnce, startRightsBed, YOUNG } from './bed.ts';
import { createRepairs, type Repairs } from './repairs.ts';

const SANDBOX = { infra: { provider: 'local' }, host: { type: 'sandbox' } };
const ELSEWHERE = { scope: { nodeSelector: { matchLabels: { pool: 'none' } } } };
/** An allowance that limits nothing. */
const ENDED = {
  hub: 'hub-1',
  epoch: 1,
  seq: 1,
  cluster: 'here',
  at: '2020-01-01T00:00:00Z',
  until: '2020-01-01T00:05:00Z',
};
const POD = { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'x' }] };
/** Its Leases are watched while a policy names them. */
const TOOL = 'medik8s-leases';
const FOREIGN = { ...YOUNG, blockers: { ...YOUNG.blockers, foreign: [{ lease: `${TOOL}/node-{node}` }] } };
const KINDS = [
  { resource: MACHINES, spare: { spec: SANDBOX } },
  { resource: MACHINE_SETS, spare: { spec: { replicas: 0, template: SANDBOX } } },
  { resource: DEFENDER_POLICIES, isOfGit: true, spare: { spec: ELSEWHERE } },
  { resource: REMEDY_OPERATION_JOBS },
  { resource: DEFENDER_LEDGERS },
  { resource: FLEET_ALLOWANCES, isOfGit: true, onlyName: FLEET_ALLOWANCE, spare: { spec: ENDED } },
  { resource: NODE_REMEDIERS, isOfGit: true, spare: { spec: remedier({ '/mode': 'Suspended' }).spec } },
  { resource: NODES, spare: {} },
  { resource: LEASES, namespace: TOOL, spare: { spec: {} } },
  { resource: PODS, labels: { [LABEL_BLOCK]: 'true' }, spare: { spec: POD } },
];
const ALL = rightsIn(defenderRights);
/** The ledger is read before each write of it. Jobs that ended are deleted by their rule, which is how the view loses one. */
const BY_REPAIR = ['get defenderledgers', 'get remedyoperationjobs'];
const BY_VIEW = ALL.filter(
  (right) =>
    READS.includes(right.verb) && !BY_REPAIR.includes(textOf(right)) && right.resource !== 'configmaps',
);
/** The audit record is read at the start, and gets another part when one is full: test/cluster/defender/controllers.test.ts. */
const APPEND = ALL.filter(({ verb, resource }) => verb === 'update' && resource === 'configmaps');
const ASKED = 'asked';
const REVIEWS = ['create tokenreviews', 'create subjectaccessreviews'];
const STATUSES = ALL.filter(({ resource }) => resource.endsWith('/status'));

let bed: RightsBed;
let repairs: Repairs;
let http: PlainClient;
let policies = 0;

beforeAll(async () => {
  const now = createSystemClock().now();
  const authority = createAuthority('test', now, 1);
  const subject = { commonName: 'localhost' };
  const request = { subject, usage: 'server', names: ['localhost'], now, seconds: 86_400 } as const;
  const { certPem, keyPem } = issueCertificate(authority, request);
  const [certFile, keyFile] = [join(tempFolder(), 'tls.crt'), join(tempFolder(), 'tls.key')];
  writeFileSync(certFile, certPem);
  writeFileSync(keyFile, keyPem);
  const port = await findFreePort();
  const files = ['--defender-cert', certFile, '--defender-key', keyFile];
  bed = await startRightsBed(KINDS, '--defender-port', String(port), ...files);
  http = httpsClient({ url: `https://localhost:${port}`, caPem: authority.certPem });
  repairs = createRepairs(bed);
  await ensureAccount(bed.admin);
  await bed.admin.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TOOL } });
  await applyFleetDefault(bed.installed, FOREIGN);
  await createMachineWithNode(bed.admin, ASKED);
  await bed.admin.create(resources.ClusterRoleBinding, {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'asks' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: ROLE_GRANTS },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  });
  await repairs.applyRule(3600);
  bed.start();
  await eventually(isServing, 'the Defender did not answer');
});
afterAll(async () => {
  http?.close();
  await bed?.stop();
});

async function repair(): Promise<void> {
  await repairs.recover(await repairs.fallIll());
}

/** A policy and an allowance whose status it writes, and a grant, which changes that of the ledger. */
async function changeStatuses(): Promise<void> {
  policies += 1;
  await applyPolicy(bed.installed, `more-${policies}`, ELSEWHERE);
  const sync = await bed.installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
  const { group, version, kind } = FLEET_ALLOWANCES;
  const metadata = { name: FLEET_ALLOWANCE };
  await sync.create(FLEET_ALLOWANCES, { apiVersion: `${group}/${version}`, kind, metadata, spec: ENDED });
  await repair();
  await removeAtOnce(sync, FLEET_ALLOWANCES, metadata);
}

/** With a token that was not reviewed yet. */
async function askByHTTP(): Promise<PlainAnswer> {
  const env = { ...process.env, KUBECONFIG: bed.installed.server.kubeconfig };
  const args = ['create', 'token', 'default', '--audience=kubenode-defender'];
  const token = (await promisify(execFile)(bed.installed.server.kubectl, args, { env })).stdout.trim();
  const body = { machine: ASKED, action: 'Reboot', dryRun: true };
  return await http.ask('/v1/ask', {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}` },
  });
}

async function isServing(): Promise<true | undefined> {
  const answer = await askByHTTP().catch(() => undefined);
  return answer?.status === 200 || undefined;
}

describe('the account of the Defender', () => {
  it('does all that this test uses its rights for without a refusal', async () => {
    bed.forgetLog();
    await changeStatuses();
    await bed.read(...BY_VIEW);
    await repairs.deleteJobs();
    expect((await askByHTTP()).status).toBe(200);
    expect(bed.missed()).toEqual([]);
  });

  it.each(slice(READS, 1))(
    'misses the rights to %s what it watches, logs each, and continues with them',
    async (verb) => {
      const rights = BY_VIEW.filter((right) => right.verb === verb);
      const missed = await bed.missedWithout(PRINCIPAL_DEFENDER, rights);
      expect(missed).toEqual(expectedMisses(PRINCIPAL_DEFENDER, ...rights));
      await repair();
    },
  );

  it.each(slice(['get defenderledgers', 'update defenderledgers'], 1))(
    'misses the right to %s, logs it, and grants with it',
    async (text) => {
      const giveBack = await bed.takeAway(PRINCIPAL_DEFENDER, rightTo(ALL, text));
      const machine = await repairs.fallIll();
      await expect.poll(() => bed.missed()).toEqual([`${PRINCIPAL_DEFENDER}: ${text}`]);
      expect(await repairs.job(machine)).toBeUndefined();
      await giveBack();
      await repairs.recover(machine);
    },
  );

  it('misses the right to get remedyoperationjobs, logs it, and continues with it', async () => {
    await repair();
    const right = rightTo(ALL, 'get remedyoperationjobs');
    const giveBack = await bed.takeAway(PRINCIPAL_DEFENDER, right);
    await bed.listAgain(right, () => repairs.removeJobs());
    await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_DEFENDER, right));
    await giveBack();
    await repair();
  });

  it('misses the rights to write statuses, logs each, and continues with them', async () => {
    const giveBack = await bed.takeAway(PRINCIPAL_DEFENDER, STATUSES);
    await changeStatuses();
    await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_DEFENDER, ...STATUSES));
    await giveBack();
    await changeStatuses();
  });

  it('misses the right to append to the audit record, logs it, and grants without it', async () => {
    await repair();
    const giveBack = await bed.takeAway(PRINCIPAL_DEFENDER, APPEND);
    await repair();
    await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_DEFENDER, ...APPEND));
    await giveBack();
    await repair();
  });

  it.each(REVIEWS)('misses the right to %s, answers no request, and answers with it', async (text) => {
    const giveBack = await bed.takeAway(PRINCIPAL_DEFENDER, rightTo(ALL, text));
    const { status, body } = await askByHTTP();
    expect([status >= 400, body]).toEqual([true, expect.not.stringContaining('"granted"')]);
    await expect.poll(() => bed.missed()).toEqual([`${PRINCIPAL_DEFENDER}: ${text}`]);
    await giveBack();
    expect((await askByHTTP()).status).toBe(200);
  });
});
