/** Objects that only git may change, and objects that are protected from deletion: kubenode-git-only and -protected-delete. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ANNOTATION_BREAK_GLASS,
  ANNOTATION_CONFIRM_DELETE,
  POLICY_GIT_ONLY as GIT,
  KILL_SWITCH,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_MACHINESET,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
  PRINCIPAL_SYNC,
  POLICY_PROTECTED_DELETE as PROTECTED,
  ROLE_ADMIN,
  ROLE_OPERATOR,
  ROLE_STOP,
  ROLE_VIEW,
} from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type AccessDecision, type Attempt, create, finalDecision, patch } from '../attempts.ts';
import { type ResourceKind, resources } from '../resources.ts';
import { example, renamed, type SampleCluster, startSampleCluster } from '../sample-cluster.ts';

const REMEDIER = 'disk-pressure';
/** Writes NodeRemedier and DefenderPolicy, but is not the one who may break glass. */
const WRITER = 'rule-writer';
const clock = createSystemClock();

let sample: SampleCluster;
beforeAll(async () => {
  sample = await startSampleCluster();
  const ours = {
    apiGroups: ['kubenode.dev'],
    resources: ['noderemediers', 'defenderpolicies'],
    verbs: ['*'],
  };
  const others = { ...ours, verbs: ['get', 'create', 'update', 'patch', 'delete'] };
  await sample.admin.create(resources.ClusterRole, roleOf(WRITER, others));
  for (const role of [ROLE_ADMIN, ROLE_OPERATOR, ROLE_STOP, ROLE_VIEW, WRITER]) {
    await sample.admin.create(resources.ClusterRoleBinding, bindingOf(role));
  }
  await sample.server.keep();
});
beforeEach(() => sample.server.wipe());
afterAll(() => sample?.stop());

describe('NodeRemedier and DefenderPolicy', () => {
  it('are written by sync', async () => {
    const sync = await sample.account(PRINCIPAL_SYNC);
    for (const attempt of [
      create(remedier('new')),
      create(limits('new')),
      changeRule(),
      removal('NodeRemedier', REMEDIER),
    ]) {
      expect(await finalDecision(sync, attempt, 'allowed')).toBe('allowed');
    }
  });

  it.each<[string, () => Attempt]>([
    ['created', () => create(remedier('new'))],
    ['created as a limit', () => create(limits('new'))],
    ['changed', changeRule],
    ['deleted', () => removal('NodeRemedier', REMEDIER)],
    ['deleted as a limit', () => removal('DefenderPolicy', 'gpu-pool')],
  ])('are not %s by an administrator', async (_, attempt) => {
    expect(await finalDecision(sample.admin, attempt(), GIT)).toBe(GIT);
    expect(await finalDecision(await sample.person(ROLE_ADMIN), attempt(), GIT)).toBe(GIT);
  });

  it('accept status, labels and annotations from others', async () => {
    const remedy = await sample.account(PRINCIPAL_REMEDY);
    const status = patch('NodeRemedier', REMEDIER, { status: { phase: 'Held' } }, 'status');
    expect(await finalDecision(remedy, status, 'allowed')).toBe('allowed');
    const defender = await sample.account(PRINCIPAL_DEFENDER);
    const stopped = patch('DefenderPolicy', 'fleet-default', { status: { phase: 'Stopped' } }, 'status');
    expect(await finalDecision(defender, stopped, 'allowed')).toBe('allowed');
    const labelled = patch('NodeRemedier', REMEDIER, { metadata: { labels: { reviewed: 'yes' } } });
    expect(await finalDecision(sample.admin, labelled, 'allowed')).toBe('allowed');
  });
});

describe('break-glass', () => {
  it.each<[string, string, AccessDecision]>([
    ['for an hour', `${hours(1)}; anna; incident 4711`, 'allowed'],
    ['for almost four hours', `${hours(3.99)}; anna; incident 4711`, 'allowed'],
    ['for five hours', `${hours(5)}; anna; incident 4711`, GIT],
    ['that is over', `${hours(-0.1)}; anna; incident 4711`, GIT],
    ['without a name', `${hours(1)}; ; incident 4711`, GIT],
    ['without a reason', `${hours(1)}; anna`, GIT],
    ['without an end', 'anna; incident 4711; now', GIT],
    ['that is empty', '', GIT],
  ])('%s', async (_, glass, expected) => {
    const annotations = { [ANNOTATION_BREAK_GLASS]: glass };
    const created = remedier('new');
    const acts = [
      create({ ...created, metadata: { ...created.metadata, annotations } }),
      changeRule({ annotations }),
    ];
    for (const attempt of acts) {
      expect(await finalDecision(await sample.person(ROLE_ADMIN), attempt, expected)).toBe(expected);
    }
  });

  it('needs the verb break-glass, not only the permission to write', async () => {
    const annotations = { [ANNOTATION_BREAK_GLASS]: `${hours(1)}; anna; incident 4711` };
    expect(await finalDecision(await sample.person(WRITER), changeRule({ annotations }), GIT)).toBe(GIT);
    expect(
      await finalDecision(await sample.person(ROLE_OPERATOR), changeRule({ annotations }), 'no permission'),
    ).toBe('no permission');
  });

  it('lasts until its end, without being renewed', async () => {
    const anna = await sample.person(ROLE_ADMIN);
    const annotations = { [ANNOTATION_BREAK_GLASS]: `${hours(1)}; anna; incident 4711` };
    expect(await finalDecision(anna, changeRule({ annotations }), 'allowed')).toBe('allowed');
    await anna.patch(
      resources.NodeRemedier,
      { name: REMEDIER },
      { type: 'merge', body: { metadata: { annotations }, spec: { priority: 9 } } },
    );
    expect(await finalDecision(anna, changeRule(), 'allowed')).toBe('allowed');
  });

  it('cannot be extended with forged times in managedFields', async () => {
    const anna = await sample.person(ROLE_ADMIN);
    const annotations = { [ANNOTATION_BREAK_GLASS]: `${hours(6)}; anna; incident 4711` };
    for (const offset of [-72, 4]) {
      const forge: Attempt = async (client) => {
        const live = await client.get(resources.NodeRemedier, { name: REMEDIER });
        const time = hours(offset);
        const forged = (live.metadata.managedFields ?? []).map((entry) => ({ ...entry, time }));
        const more = { ...forged[0], manager: 'somebody', operation: 'Update' as const, time };
        const metadata = { ...live.metadata, annotations, managedFields: [...forged, more] };
        const spec = { ...(live['spec'] as object), priority: 9 };
        return await client.replace(
          resources.NodeRemedier,
          { ...live, metadata, spec },
          {
            dryRun: true,
          },
        );
      };
      expect(await finalDecision(anna, forge, GIT)).toBe(GIT);
    }
  });

  it('is denied when managedFields, and with it the time, is removed', async () => {
    const annotations = { [ANNOTATION_BREAK_GLASS]: `${hours(1)}; anna; incident 4711` };
    const forget: Attempt = async (client) => {
      const live = await client.get(resources.NodeRemedier, { name: REMEDIER });
      const metadata = {
        ...live.metadata,
        annotations,
        managedFields: [{}],
      } as unknown as KubeObject['metadata'];
      const spec = { ...(live['spec'] as object), priority: 9 };
      return await client.replace(resources.NodeRemedier, { ...live, metadata, spec }, { dryRun: true });
    };
    expect(await finalDecision(await sample.person(ROLE_ADMIN), forget, GIT)).toBe(GIT);
  });

  it('allows a delete by UID, because CEL has no clock at a delete', async () => {
    const anna = await sample.person(ROLE_ADMIN);
    await confirm('NodeRemedier', REMEDIER, 'another-uid');
    expect(await finalDecision(anna, removal('NodeRemedier', REMEDIER), GIT)).toBe(GIT);
    await confirm('NodeRemedier', REMEDIER);
    expect(await finalDecision(anna, removal('NodeRemedier', REMEDIER), 'allowed')).toBe('allowed');
    expect(await finalDecision(await sample.person(WRITER), removal('NodeRemedier', REMEDIER), GIT)).toBe(
      GIT,
    );
  });
});

describe('the kill switch', () => {
  const killSwitch = { engaged: true, reason: 'incident 4711', by: 'anna' };
  const stop = { ...limits(KILL_SWITCH), spec: { scope: { nodeSelector: { all: true } }, killSwitch } };

  it('is engaged with ClusterRole kubenode-stop, which allows nothing else', async () => {
    const anna = await sample.person(ROLE_STOP);
    expect(await finalDecision(anna, create(stop), 'allowed')).toBe('allowed');
    expect(await finalDecision(anna, create(renamed(stop, 'other')), GIT)).toBe(GIT);
    const annotations = { [ANNOTATION_BREAK_GLASS]: `${hours(1)}; anna; incident 4711` };
    const glass = { ...stop, metadata: { name: 'other', annotations } };
    expect(await finalDecision(anna, create(glass), GIT)).toBe(GIT);
  });

  it('is disengaged by administrators only', async () => {
    await sample.admin.create(resources.DefenderPolicy, stop);
    expect(
      await finalDecision(
        await sample.person(ROLE_STOP),
        removal('DefenderPolicy', KILL_SWITCH),
        'no permission',
      ),
    ).toBe('no permission');
    const disengage = patch('DefenderPolicy', KILL_SWITCH, { spec: { killSwitch: { engaged: false } } });
    expect(await finalDecision(await sample.person(ROLE_STOP), disengage, 'no permission')).toBe(
      'no permission',
    );
    expect(await finalDecision(await sample.person(ROLE_OPERATOR), disengage, 'no permission')).toBe(
      'no permission',
    );
    expect(
      await finalDecision(await sample.person(ROLE_ADMIN), removal('DefenderPolicy', KILL_SWITCH), 'allowed'),
    ).toBe('allowed');
  });
});

describe('a delete', () => {
  it.each<[ResourceKind, string]>([
    ['Machine', 'n17'],
    ['MachineSet', 'general'],
    ['Cluster', 'prod-eu-1'],
  ])('of a %s needs the word of a person for this very object', async (kind, name) => {
    expect(await finalDecision(sample.admin, removal(kind, name), PROTECTED)).toBe(PROTECTED);
    await confirm(kind, name, '0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11');
    expect(await finalDecision(sample.admin, removal(kind, name), PROTECTED)).toBe(PROTECTED);
    await confirm(kind, name);
    expect(await finalDecision(sample.admin, removal(kind, name), 'allowed')).toBe('allowed');
  });

  it('of fleet-default needs the confirmation too', async () => {
    await confirm('DefenderPolicy', 'fleet-default');
    const attempt = removal('DefenderPolicy', 'fleet-default');
    expect(await finalDecision(await sample.person(ROLE_ADMIN), attempt, 'allowed')).toBe('allowed');
  });

  it('of a Cluster needs no confirmation once its protection is off', async () => {
    const sync = await sample.account(PRINCIPAL_SYNC);
    const body = { spec: { deletion: { protection: false } } };
    await sync.patch(resources.Cluster, { name: 'prod-eu-1' }, { type: 'merge', body });
    expect(await finalDecision(sample.admin, removal('Cluster', 'prod-eu-1'), 'allowed')).toBe('allowed');
  });

  it.each([
    [PRINCIPAL_SYNC, 'Cluster', 'prod-eu-1', 'allowed'],
    [PRINCIPAL_SYNC, 'MachineSet', 'general', 'allowed'],
    [PRINCIPAL_SYNC, 'DefenderPolicy', 'fleet-default', 'allowed'],
    [PRINCIPAL_MACHINESET, 'Machine', 'n17', 'allowed'],
    [PRINCIPAL_REMEDYJOB, 'Machine', 'n17', 'no permission'],
    [PRINCIPAL_REMEDY, 'Machine', 'n17', 'no permission'],
    [PRINCIPAL_MACHINESET, 'MachineSet', 'general', 'no permission'],
  ] as const)('by %s of %s %s: %s', async (principal, kind, name, expected) => {
    expect(await finalDecision(await sample.account(principal), removal(kind, name), expected)).toBe(
      expected,
    );
  });
});

function remedier(name: string): KubeObject {
  return renamed(example('NodeRemedier cleans full disks'), name);
}

function limits(name: string): KubeObject {
  return renamed(example('DefenderPolicy only audits, for a pool'), name);
}

function changeRule(metadata: object = {}): Attempt {
  return patch('NodeRemedier', REMEDIER, { metadata, spec: { priority: 7 } });
}

function removal(kind: ResourceKind, name: string): Attempt {
  return async (client: Client) => {
    const { metadata } = await sample.admin.get(resources[kind], { name });
    await client.delete(resources[kind], { name }, { uid: metadata.uid ?? '', dryRun: true });
  };
}

/** The annotation of a person who means it, with the object's own UID or another one. */
async function confirm(kind: ResourceKind, name: string, uid?: string): Promise<void> {
  const { metadata } = await sample.admin.get(resources[kind], { name });
  const annotations = { [ANNOTATION_CONFIRM_DELETE]: uid ?? metadata.uid };
  await sample.admin.patch(resources[kind], { name }, { type: 'merge', body: { metadata: { annotations } } });
}

function hours(fromNow: number): string {
  return new Date(clock.now().getTime() + fromNow * 3_600_000).toISOString();
}

function roleOf(name: string, rule: object): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [rule],
  };
}

function bindingOf(role: string): KubeObject {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `test-${role}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'Group', name: role }],
  };
}
