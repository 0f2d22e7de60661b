import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../../../src/api/generated/types.ts';
import {
  planUpdate,
  type StoredConfig,
  type UpdateMachineInput,
} from '../../../../../../src/controllers/following/clusterapi/extension/plan.ts';
import { facts } from '../facts.ts';
import { askedFor, configOf, entryFor, FROM, fileMachine, KUBELETS, RUNTIMES, rulesOf, TO } from './bed.ts';

const CURRENT = configOf('a = 1');
const DESIRED = configOf('a = 2');
const [KUBELET, NEXT_KUBELET] = KUBELETS as [(typeof KUBELETS)[number], (typeof KUBELETS)[number]];

interface Case {
  readonly machine?: Machine;
  readonly spec?: object;
  readonly config?: StoredConfig | undefined;
  readonly version?: string;
  readonly onFailure?: UpdateMachineInput['onFailure'];
}

function decide(parts: Case = {}): string {
  const { spec = DESIRED, version = FROM, machine = fileMachine(1, { config: CURRENT }) } = parts;
  const config = 'config' in parts ? parts.config : { spec, isUpdating: true };
  const decision = planUpdate({
    ...facts([], { rules: rulesOf() }),
    asked: askedFor(undefined, version),
    onFailure: parts.onFailure ?? 'Wait',
    stored: { version, providerID: 'inst://1', isUpdating: true, config },
    machine,
  });
  const entry = decision.type === 'Pin' ? ` ${decision.entry.componentRef}` : '';
  return `${decision.type}${entry} ${decision.because}`;
}

/** With these components, and what the agent reports of the second runtime. */
function during(report: object, ...components: Parameters<typeof entryFor>[0][]): Machine {
  const base = { name: 'runtime', desiredRef: 'runtime-2', digest: entryFor(RUNTIMES[1]).digest };
  return fileMachine(1, {
    config: CURRENT,
    components,
    status: { agent: { observedGeneration: 1 }, components: [{ ...base, ...report }] },
  });
}

const RUNS = { state: 'Committed', running: true, ready: true };

describe('planUpdate of files', () => {
  it.each<[name: string, parts: Case, expected: string]>([
    ['the component of a file that changed', {}, 'Pin runtime-2 runtime-2 is assigned to node-1'],
    [
      'the file first, and then the version',
      { version: TO },
      'Pin runtime-2 runtime-2 is assigned to node-1',
    ],
    [
      'the version when the file is in force',
      { version: TO, machine: during(RUNS, RUNTIMES[1], KUBELET) },
      'Pin kubelet-1.34.2 kubelet-1.34.2 is assigned to node-1',
    ],
    [
      'nothing more while the file is not in force',
      { version: TO, machine: during({ state: 'Staged' }, RUNTIMES[1], KUBELET) },
      'Wait node-1: runtime is Staged',
    ],
    [
      'nothing after a file that failed',
      {
        version: TO,
        onFailure: 'Fail',
        machine: during(
          { state: 'RolledBack', error: { message: 'exit 1', reason: 'ExitCode' } },
          RUNTIMES[1],
          KUBELET,
        ),
      },
      'Fail node-1: runtime: exit 1',
    ],
    [
      'nothing when all is in force',
      { machine: during(RUNS, RUNTIMES[1], KUBELET) },
      'Done runtime-2 runs on node-1',
    ],
    [
      'nothing that does not change, though a component differs from it on purpose',
      { spec: CURRENT, machine: during(RUNS, RUNTIMES[1], KUBELET) },
      'Done Machine fleet/md-1 of Cluster API has what it asks for',
    ],
    [
      'no older kubelet for a version that does not change',
      { machine: fileMachine(1, { config: CURRENT, components: [RUNTIMES[0], NEXT_KUBELET] }) },
      'Pin runtime-2 runtime-2 is assigned to node-1',
    ],
    [
      'nothing for a config that Cluster API does not update',
      { config: { spec: DESIRED, isUpdating: false } },
      'Refuse the KubeadmConfig of Machine fleet/md-1 of Cluster API is not being updated',
    ],
    ['nothing while it cannot be read', { config: { unreadable: 'forbidden' } }, 'Wait forbidden'],
    [
      'nothing that no version has any more',
      { spec: configOf('a = 3') },
      'Wait runtime-1 has another /etc/runtime/config.toml than the KubeadmConfig, and no other version of runtime has it without a further change',
    ],
    [
      'nothing where the state before is not known, and a component differs from the config',
      { machine: fileMachine(1), version: TO },
      'Wait node-1 has no annotation kubenode.dev/bootstrap with the files of its KubeadmConfig',
    ],
  ])('CAP-18 assigns for an update of files: %s', (_, parts, expected) => {
    expect(decide(parts)).toBe(expected);
  });

  it('CAP-18 takes a file back that an update has begun to change', () => {
    const record = '{"files":{"/etc/runtime/config.toml":""},"version":"v1.34.1"}';
    const machine = during(RUNS, RUNTIMES[1], KUBELET);
    const { metadata } = machine;
    const annotated = {
      ...machine,
      metadata: { ...metadata, annotations: { 'kubenode.dev/bootstrap': record } },
    };
    expect(decide({ spec: CURRENT, machine: annotated })).toBe(
      'Pin runtime-1 runtime-1 is assigned to node-1',
    );
  });

  it('CAP-18 updates the version alone where configs may not be read, or components do as the config', () => {
    const machine = fileMachine(1);
    const expected = 'Pin kubelet-1.34.2 kubelet-1.34.2 is assigned to node-1';
    expect(decide({ machine, version: TO, config: { unreadable: 'forbidden' } })).toBe(expected);
    expect(decide({ machine, version: TO, config: undefined })).toBe(expected);
    expect(decide({ machine, version: TO, spec: CURRENT })).toBe(expected);
  });
});
