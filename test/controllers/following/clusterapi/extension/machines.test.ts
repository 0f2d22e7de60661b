import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../../src/api/generated/types.ts';
import {
  ANNOTATION_BOOTSTRAP,
  ANNOTATION_HOLD,
  ANNOTATION_OWNER_HOLD,
} from '../../../../../src/api/names.ts';
import {
  isPresent,
  machinesAskedAbout,
  noRecordReason,
  pinnedReason,
  recordIn,
  updateHoldReason,
} from '../../../../../src/controllers/following/clusterapi/extension/machines.ts';
import type { AskedObject } from '../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import { ours, theirNode } from '../objects.ts';
import { asked, entryOf, facts, NEW, OLD, updatable } from './facts.ts';

function withInfra(n: number, infra: Machine['spec']['infra']): Machine {
  const { spec, ...rest } = ours(n);
  return { ...rest, spec: { ...spec, infra } };
}

function annotated(annotations: Readonly<Record<string, string>>): Machine {
  const { metadata, ...rest } = updatable(1);
  return { ...rest, metadata: { ...metadata, annotations } };
}

const POOL: Partial<AskedObject> = {
  selector: { all: false, matchLabels: { pool: 'general' }, matchExpressions: [] },
};

describe('machinesAskedAbout', () => {
  it.each<[name: string, question: Partial<AskedObject>, machines: readonly Machine[], found: string]>([
    ['the one beside a Machine', {}, [ours(1), ours(2)], 'node-1'],
    ['none that is beside another Machine', { name: 'md-9' }, [ours(1)], ''],
    ['none of the same name in another namespace', { namespace: 'other' }, [ours(1)], ''],
    ['all that the selector of a MachineSet selects', POOL, [ours(1), ours(2)], 'node-1 node-2'],
    ['none that the selector selects in another namespace', { ...POOL, namespace: 'other' }, [ours(1)], ''],
    [
      'none that the selector does not select',
      { selector: { all: false, matchLabels: { pool: 'gpu' }, matchExpressions: [] } },
      [ours(1)],
      '',
    ],
    ['none for an empty selector', { selector: { all: false } }, [ours(1)], ''],
    ['none that is leaving', POOL, [ours(1, { isDeleting: true }), ours(2)], 'node-2'],
    ['none of another provider', POOL, [withInfra(1, { provider: 'local', config: {} })], ''],
    [
      'none that follows an object without a namespace',
      POOL,
      [
        withInfra(1, {
          provider: 'external',
          config: { kind: 'Node', name: 'md-1', providerID: 'inst://1' },
        }),
      ],
      '',
    ],
  ])('CAP-05 finds among our machines %s', (_, question, machines, found) => {
    const names = machinesAskedAbout(asked(1, 'v1.34.2', question), machines).map(
      ({ metadata }) => metadata.name,
    );
    expect(names.join(' ')).toBe(found);
  });
});

describe('what keeps a machine from an update', () => {
  it.each<
    [name: string, machine: Machine, node: Readonly<Record<string, string>>, reason: string | undefined]
  >([
    ['nothing', updatable(1), {}, undefined],
    [
      'the hold of Cluster API',
      annotated({ [ANNOTATION_OWNER_HOLD]: 'ClusterPaused: it is' }),
      {},
      'node-1 is held: ClusterPaused: it is',
    ],
    [
      'the hold of a person',
      updatable(1, { spec: { hold: { reason: 'debugging', scope: 'Disruptive' } } as never }),
      {},
      'node-1 is held: debugging',
    ],
    [
      'the hold of a person that has ended',
      updatable(1, {
        spec: { hold: { reason: 'debugging', scope: 'Disruptive', until: '2000-01-01T00:00:00Z' } } as never,
      }),
      {},
      undefined,
    ],
    ['a hold on its Node', updatable(1), { [ANNOTATION_HOLD]: 'disk' }, 'node-1 is held: disk'],
  ])('CAP-05 names what holds a machine: %s', (_, machine, annotations, reason) => {
    const nodeOf = (): ReturnType<typeof theirNode> => theirNode(1, annotations);
    expect(updateHoldReason(machine, facts([machine], { nodeOf }))).toBe(reason);
  });

  it('CAP-05 is explained with the machine and the component that a person has to look at', () => {
    expect(pinnedReason(updatable(1), entryOf(NEW))).toBe(
      'kubelet of node-1 is pinned by another owner: remove the pin to have it follow Cluster API',
    );
    expect(noRecordReason(updatable(1))).toBe(
      'node-1 has no annotation kubenode.dev/bootstrap with the files of its KubeadmConfig',
    );
  });
});

describe('what a machine has already', () => {
  it.each<[name: string, change: Partial<ReturnType<typeof entryOf>>, expected: boolean]>([
    ['the same entry', {}, true],
    ['the same entry with its assignment', { assignment: { set: 'general' } as never }, true],
    ['another version', NEW, false],
    ['another parameter', { parameters: { level: 'debug' } }, false],
    ['another digest of the same version', { digest: NEW.digest }, false],
    ['a component that is to be removed', { state: 'Absent' }, false],
    ['another component', { name: 'runtime' }, false],
  ])('CAP-05 is the entry by all of its content: %s', (_, change, expected) => {
    const machine = updatable(1, { spec: { components: [{ ...entryOf(OLD), ...change }] } });
    expect(isPresent(machine, entryOf(OLD))).toBe(expected);
  });

  it.each<[name: string, annotations: Readonly<Record<string, string>>, expected: unknown]>([
    ['nothing without the annotation', {}, undefined],
    ['nothing that is not a record', { [ANNOTATION_BOOTSTRAP]: '[]' }, undefined],
    [
      'its version and files',
      { [ANNOTATION_BOOTSTRAP]: '{"files":{"/etc/motd":"12"},"version":"v1.34.1"}' },
      { version: 'v1.34.1', files: { '/etc/motd': '12' } },
    ],
  ])('CAP-17 is read from its record: %s', (_, annotations, expected) => {
    expect(recordIn(annotated(annotations))).toEqual(expected);
  });
});
