/** Each right of the account of the approver, and of the one that writes Events, is taken away, and missed. */
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AGENT_GROUP,
  agentUser,
  NAMESPACE_AGENTS,
  PRINCIPAL_APPROVER,
  PRINCIPAL_CONTROLLERS,
  SIGNER_AGENT,
  SIGNER_KUBELET,
  serviceAccountUser,
} from '../../../../src/api/names.ts';
import { approverRights } from '../../../../src/api/roles/controllers.ts';
import { eventRules } from '../../../../src/api/roles/people.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
} from '../../../../src/kube/auth/certificate-requests.ts';
import { EVENTS } from '../../../../src/kube/events/object.ts';
import { createEventRecorder } from '../../../../src/kube/events/recorder.ts';
import { LEASES } from '../../../../src/kube/leader/record.ts';
import { valueAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { createCertificateRequest } from '../../../../src/os/x509/certificate-request.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { slice } from '../../../support/sweep-size.ts';
import { ACCOUNTS, createMachineWithNode } from '../../defender/objects.ts';
import { expectedMisses, type Right, rightsIn, rightTo } from '../rights.ts';
import { READS, type RightsBed, startRightsBed } from './bed.ts';

const MACHINE = 'm-1';
const CSR = CERTIFICATE_REQUESTS.plural;
const USAGES = ['client auth', 'digital signature'];
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const name = { commonName: agentUser(MACHINE), organization: AGENT_GROUP };
const request = Buffer.from(createCertificateRequest(name, key)).toString('base64');
const KINDS = [
  {
    resource: CERTIFICATE_REQUESTS,
    spare: { spec: { request, signerName: 'example.com/none', usages: USAGES } },
  },
  { resource: LEASES, namespace: NAMESPACE_AGENTS, spare: { spec: {} } },
];
const ALL = rightsIn(approverRights);
const SIGNERS = ALL.filter(({ verb }) => verb === 'approve');
const EVENT_ROLE = { role: 'kubenode-events', namespace: 'default' };
const [CREATE_EVENTS, PATCH_EVENTS] = rightsIn({ description: '', cluster: eventRules }) as [Right, Right];

let bed: RightsBed;
let requests = 0;
beforeAll(async () => {
  bed = await startRightsBed(KINDS);
  await createMachineWithNode(bed.admin, MACHINE);
  bed.start();
});
afterAll(() => bed?.stop());

/** Of an agent that has not registered: it is denied, which is a decision as an approval is. */
async function ask(signerName: string = SIGNER_AGENT): Promise<string> {
  requests += 1;
  const agent = await bed.installed.as(agentUser(MACHINE), [AGENT_GROUP]);
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `r-${requests}` },
    spec: { request, signerName, usages: USAGES },
  };
  await agent.create(CERTIFICATE_REQUESTS, object);
  return object.metadata.name;
}

async function isDecided(asked: string): Promise<boolean> {
  const found = await bed.admin.get<CertificateRequestObject>(CERTIFICATE_REQUESTS, { name: asked });
  return (found.status?.conditions ?? []).length > 0;
}

async function decided(asked: string): Promise<void> {
  await expect.poll(() => isDecided(asked)).toBe(true);
}

async function eventsAbout(object: string): Promise<readonly KubeObject[]> {
  const { items } = await bed.admin.list(EVENTS, { namespace: 'default' });
  return items.filter((event) => valueAt(event, 'regarding', 'name') === object);
}

/** As a process does that took over from another one, for what that one reported already. */
async function reportAgain(): Promise<readonly string[]> {
  const client = await bed.installed.as(serviceAccountUser(PRINCIPAL_CONTROLLERS), ACCOUNTS);
  const about = await bed.admin.get(CERTIFICATE_REQUESTS, { name: await ask() });
  const occurrence = { about, type: 'Normal', reason: 'Tested', action: 'Test', note: 'twice' } as const;
  const log = memoryLog();
  for (const instance of ['one', 'two']) {
    const shared = { client, clock: createSystemClock(), random: () => 0.5, log };
    const recorder = createEventRecorder({ ...shared, controller: 'kubenode.dev/test', instance });
    recorder.record(occurrence);
    // oxlint-disable-next-line no-await-in-loop -- one leader after the other
    await recorder.close();
  }
  return log.lines.map(({ message, fields }) => `${message}: ${String(fields['error'])}`);
}

describe('the account of the approver', () => {
  it('does all that this test uses its rights for without a refusal', async () => {
    bed.forgetLog();
    const asked = [await ask(), await ask(SIGNER_KUBELET)];
    for (const each of asked) await decided(each);
    await bed.read(...ALL);
    expect(await reportAgain()).toEqual([]);
    expect(bed.missed()).toEqual([]);
  });

  it.each(slice(READS, 1))(
    'misses the rights to %s what it watches, logs each, and continues with them',
    async (verb) => {
      const rights = ALL.filter((right) => right.verb === verb);
      const missed = await bed.missedWithout(PRINCIPAL_APPROVER, rights);
      expect(missed).toEqual(expectedMisses(PRINCIPAL_APPROVER, ...rights));
      await decided(await ask());
    },
  );

  it('misses the right to write approvals, logs it, and continues with it', async () => {
    const right = rightTo(ALL, `update ${CSR}/approval`);
    const giveBack = await bed.takeAway(PRINCIPAL_APPROVER, right);
    const asked = await ask();
    await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_APPROVER, right));
    expect(await isDecided(asked)).toBe(false);
    await giveBack();
    await decided(asked);
  });

  it.each(slice(SIGNERS, 1).map((right) => [right.name ?? '', right] as const))(
    'misses the right to approve for the signer %s, logs it, and continues with it',
    async (signer, right) => {
      const giveBack = await bed.takeAway(PRINCIPAL_APPROVER, right);
      const asked = await ask(signer);
      await expect
        .poll(() => bed.logged())
        .toContain(`user not permitted to approve requests with signerName`);
      expect(await isDecided(asked)).toBe(false);
      await giveBack();
      await decided(asked);
    },
  );
});

describe('the account of the process, which writes Events', () => {
  it('misses the right to create them, logs it, and decides without it', async () => {
    const giveBack = await bed.takeAway(PRINCIPAL_CONTROLLERS, CREATE_EVENTS, EVENT_ROLE);
    const asked = await ask();
    await decided(asked);
    await expect.poll(() => bed.missed()).toEqual(expectedMisses(PRINCIPAL_CONTROLLERS, CREATE_EVENTS));
    expect(await eventsAbout(asked)).toEqual([]);
    await giveBack();
    const next = await ask();
    await expect.poll(async () => (await eventsAbout(next)).length).toBe(1);
  });

  it('misses the right to count one again that another leader wrote, and logs it', async () => {
    const giveBack = await bed.takeAway(PRINCIPAL_CONTROLLERS, PATCH_EVENTS, EVENT_ROLE);
    expect((await reportAgain()).join('\n')).toMatch(/cannot patch resource \W+events/);
    await giveBack();
    expect(await reportAgain()).toEqual([]);
  });
});
