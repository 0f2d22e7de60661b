import { describe, expect, it } from 'vitest';
import type { MachineSet } from '../../../src/api/generated/types.ts';
import { planMachineSet } from '../../../src/controllers/machineset/plan.ts';
import { machineSetStatus } from '../../../src/controllers/machineset/status.ts';
import {
  machineIntent,
  type TemplateDifferences,
  templateDifferences,
} from '../../../src/controllers/machineset/template.ts';
import { NOW } from '../../support/builders.ts';
import { machineSet, members, template } from '../../support/machine-sets.ts';
import { crdSchema, type FieldChange, fieldChanges, leafFields } from '../../support/schema/changes.ts';

describe('machineIntent', () => {
  const [first] = members(machineSet(1), 'ready', { spec: { zone: 'a' } });

  it('gives a new machine all of the template, its owner and its label', () => {
    expect(machineIntent(machineSet(1), { name: 'general-1', zone: 'a' })).toEqual({
      metadata: {
        name: 'general-1',
        labels: {
          pool: 'general',
          'kubenode.dev/machineset': 'general',
          'app.kubernetes.io/managed-by': 'kubenode',
        },
        ownerReferences: [
          {
            apiVersion: 'kubenode.dev/v1alpha1',
            kind: 'MachineSet',
            name: 'general',
            uid: 'set-1',
            controller: true,
          },
        ],
      },
      spec: {
        infra: { provider: 'local', config: {} },
        host: { type: 'sandbox' },
        zone: 'a',
        node: { labels: { pool: 'general' }, taints: [] },
        deletion: template().deletion,
      },
    });
  });

  it('leaves the zone to the provider where the set has none', () => {
    expect(machineIntent(machineSet(1), { name: 'general-1', zone: undefined }).spec).not.toHaveProperty(
      'zone',
    );
  });

  it('MAC-32 keeps what a machine that runs cannot change', () => {
    const taints = [{ key: 'gpu', effect: 'NoExecute' }] as const;
    const changed = template({
      infra: { provider: 'local', config: { image: 'b' } },
      host: { type: 'systemd' },
      node: { labels: { a: 'b' }, taints },
    });
    const set = machineSet(1, { spec: { template: changed } });
    const { machine } = first ?? {};
    expect(machineIntent(set, { name: 'm', zone: 'a', ...(machine ? { machine } : {}) }).spec).toMatchObject({
      infra: { provider: 'local', config: {} },
      host: { type: 'sandbox' },
      zone: 'a',
      node: { labels: { a: 'b' }, taints: [] },
    });
  });
});

const taint = (value: string) => [{ key: 'gpu', value, effect: 'NoExecute' }] as const;

describe('templateDifferences', () => {
  it('compares taints in any order, as the API server keeps its own', () => {
    const [a, b] = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'b', effect: 'NoSchedule' },
    ] as const;
    const set = machineSet(1, { spec: { template: template({ node: { taints: [a, b] } }) } });
    const [one] = members(set, 'ready', { spec: { node: { taints: [b, a] } } });
    expect(one && templateDifferences(set, one.machine)).toEqual({ inPlace: [], replacement: [] });
  });

  it('MAC-32 calls a taint that evicts pods a replacement, also when only its value changes', () => {
    const set = machineSet(1, { spec: { template: template({ node: { taints: taint('2') } }) } });
    const [one] = members(set, 'ready', { spec: { node: { taints: taint('1') } } });
    expect(one && templateDifferences(set, one.machine)).toEqual({
      inPlace: [],
      replacement: ['node.taints'],
    });
  });
});

interface AfterChange {
  /** Of each machine. */
  readonly differences: readonly (TemplateDifferences | undefined)[];
  readonly verbs: readonly string[];
  /** Of the condition UpToDate; the message without the names of the machines. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** Of `status.plannedAction`. */
  readonly fields: readonly string[] | undefined;
}

type MachineTemplate = MachineSet['spec']['template'];

/** Each field of the template, and whether a machine that runs gets the change. */
const CLASSES: Readonly<Record<string, readonly [path: string, by: 'InPlace' | 'Replacement' | 'Effect']>> = {
  'labels.*': ['labels', 'InPlace'],
  'infra.provider': ['infra.provider', 'Replacement'],
  'infra.config': ['infra.config', 'Replacement'],
  'host.type': ['host.type', 'Replacement'],
  'node.labels.*': ['node.labels', 'InPlace'],
  'node.annotations.*': ['node.annotations', 'InPlace'],
  // A new taint with NoExecute evicts pods.
  'node.taints[].key': ['node.taints', 'Effect'],
  'node.taints[].value': ['node.taints', 'Effect'],
  'node.taints[].effect': ['node.taints', 'Effect'],
  'deletion.drain': ['deletion', 'InPlace'],
  'deletion.drainTimeoutSeconds': ['deletion', 'InPlace'],
  'deletion.timeoutSeconds': ['deletion', 'InPlace'],
  'deletion.cleanup': ['deletion', 'InPlace'],
};

const SCHEMA = crdSchema('machinesets', 'spec', 'template');

/** With a value in each field, and in each kind of JSON below `infra.config`. */
const FULL = template({
  labels: { pool: 'general', team: 'a' },
  infra: {
    provider: 'local',
    config: {
      image: 'a',
      count: 1,
      spot: false,
      none: null,
      disks: [{ size: 1, tags: { tier: 'ssd' } }, 'x'],
    },
  },
  node: {
    labels: { pool: 'general', team: 'a' },
    annotations: { note: 'a', other: 'b' },
    taints: [
      { key: 'gpu', value: '1', effect: 'NoSchedule' },
      { key: 'old', value: '1', effect: 'NoExecute' },
    ],
  },
});

const CHANGES = fieldChanges(SCHEMA, FULL) as readonly (FieldChange & { readonly value: MachineTemplate })[];

/** As the API server records that the set has written the labels of its template. */
const WRITTEN = {
  manager: 'kubenode-machineset',
  operation: 'Apply',
  fieldsV1: {
    'f:metadata': {
      'f:labels': Object.fromEntries(Object.keys(FULL.labels).map((key) => [`f:${key}`, {}])),
    },
  },
} as const;

function expectedDifferences({ field, value }: (typeof CHANGES)[number]): TemplateDifferences | undefined {
  const [path, by] = CLASSES[field] ?? [];
  if (path === undefined) return undefined;
  const isReplacement = by === 'Effect' ? addsEviction(value) : by === 'Replacement';
  return isReplacement ? { inPlace: [], replacement: [path] } : { inPlace: [path], replacement: [] };
}

function expectedAfter(change: (typeof CHANGES)[number]): AfterChange {
  const [path = ''] = CLASSES[change.field] ?? [];
  const differences = expectedDifferences(change);
  const outcome =
    differences?.replacement.length === 0
      ? { verbs: ['Update', 'Update'], reason: 'Updating', message: '2 machines differ' }
      : replacementRequired(path);
  return { differences: [differences, differences], fields: [path], ...outcome };
}

function replacementRequired(path: string | undefined): Pick<AfterChange, 'verbs' | 'reason' | 'message'> {
  return {
    verbs: [],
    reason: 'ReplacementRequired',
    message: `only other machines get the new ${path}`,
  };
}

function addsEviction({ node }: MachineTemplate): boolean {
  const before = FULL.node.taints.map((each) => JSON.stringify(each));
  return node.taints.some((each) => each.effect === 'NoExecute' && !before.includes(JSON.stringify(each)));
}

/** Two machines of the template before the change, and what their set does and reports after it. */
function afterChange(
  changed: MachineTemplate,
  type: MachineSet['spec']['updateStrategy']['type'] = 'InPlace',
): AfterChange {
  const before = machineSet(2, { spec: { template: FULL } });
  const set = machineSet(2, { spec: { template: changed, updateStrategy: { type, maxUnavailable: 1 } } });
  const machines = members(before, 'ready ready', { metadata: { managedFields: [WRITTEN] } });
  const plan = planMachineSet({ set, machines, now: NOW });
  const status = machineSetStatus({ set, plan, denials: [], now: NOW });
  const upToDate = status.conditions.find((each) => each.type === 'UpToDate');
  return {
    differences: plan.members.map(({ differences }) => differences),
    verbs: plan.actions.map((action) => action.type),
    reason: upToDate?.reason,
    message: upToDate?.message.split(': general-')[0],
    fields: status.plannedAction?.fields,
  };
}

describe('each field of the template', () => {
  it('MAC-32 is classified, also one that is new in the schema', () => {
    expect(leafFields(SCHEMA).toSorted()).toEqual(Object.keys(CLASSES).toSorted());
    expect([...new Set(CHANGES.map(({ field }) => field))].toSorted()).toEqual(
      Object.keys(CLASSES).toSorted(),
    );
    expect(afterChange(FULL)).toMatchObject({ verbs: [], reason: 'AsWanted' });
  });

  it.each(Object.keys(CLASSES))(
    'MAC-32 is written to machines that run, or needs other machines: %s',
    (field) => {
      const changes = CHANGES.filter((each) => each.field === field);
      expect(changes.map(({ value }) => afterChange(value))).toEqual(changes.map(expectedAfter));
    },
  );

  it('MAC-32 is reported, and nothing is done, with OnDelete', () => {
    const found = CHANGES.map(({ value }) => afterChange(value, 'OnDelete'));
    expect(found.map(({ verbs, reason, message }) => ({ verbs, reason, message }))).toEqual(
      CHANGES.map(({ field }) => replacementRequired(CLASSES[field]?.[0])),
    );
  });

  it('MAC-32 is written in place with Replace as well, and what cannot be is replaced', () => {
    for (const change of CHANGES) {
      const inPlace = afterChange(change.value, 'InPlace');
      const isReplaced = inPlace.reason === 'ReplacementRequired';
      expect(afterChange(change.value, 'Replace')).toEqual(
        isReplaced ? { ...inPlace, reason: 'Replacing' } : inPlace,
      );
    }
    expect.hasAssertions();
  });

  it('MAC-32 reaches a machine that runs only where it was classified as in place', () => {
    const [first] = members(machineSet(1, { spec: { template: FULL } }), 'ready');
    for (const change of CHANGES) {
      const set = machineSet(1, { spec: { template: change.value } });
      const intent = machineIntent(set, {
        name: 'm',
        zone: undefined,
        ...(first ? { machine: first.machine } : {}),
      });
      const { infra, host, node, deletion } = intent.spec ?? {};
      const isInPlace = expectedDifferences(change)?.replacement.length === 0;
      const want = isInPlace ? change.value : FULL;
      expect({ infra, host, node, deletion }).toEqual({
        infra: FULL.infra,
        host: FULL.host,
        node: want.node,
        deletion: want.deletion,
      });
    }
    expect.hasAssertions();
  });

  it('MAC-32 lists all fields that only other machines get, beside those that are written', () => {
    const changed = {
      ...FULL,
      infra: { provider: 'local', config: {} },
      host: { type: 'systemd' },
      deletion: { ...FULL.deletion, drain: 'Force' },
    } as const;
    expect(afterChange(changed)).toMatchObject({
      verbs: ['Update', 'Update'],
      reason: 'ReplacementRequired',
      message: 'only other machines get the new host.type, infra.config',
      fields: ['deletion', 'host.type', 'infra.config'],
    });
  });

  it('MAC-32 is written where taints are removed, also one that evicted pods', () => {
    const node = { ...FULL.node, taints: [] };
    expect(afterChange({ ...FULL, node })).toMatchObject({
      verbs: ['Update', 'Update'],
      reason: 'Updating',
      fields: ['node.taints'],
    });
  });

  it('MAC-32 is the same in any order of its keys', () => {
    const reversed = Object.fromEntries(Object.entries(FULL.infra.config).toReversed());
    expect(afterChange({ ...FULL, infra: { provider: 'local', config: reversed } })).toMatchObject({
      verbs: [],
      reason: 'AsWanted',
    });
  });
});
