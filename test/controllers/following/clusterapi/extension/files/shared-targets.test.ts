import { describe, expect, it } from 'vitest';
import type { Machine, MachineComponent } from '../../../../../../src/api/generated/types.ts';
import { planCover } from '../../../../../../src/controllers/following/clusterapi/extension/cover.ts';
import { bootstrapFiles } from '../../../../../../src/controllers/following/clusterapi/extension/files/kubeadm-files.ts';
import { createFindTargets } from '../../../../../../src/controllers/following/clusterapi/extension/files/shared-targets.ts';
import { targetEntries } from '../../../../../../src/controllers/following/clusterapi/extension/files/target-entries.ts';
import type { EntryRules } from '../../../../../../src/controllers/following/clusterapi/extension/kubelet-version.ts';
import { facts } from '../facts.ts';
import {
  askedFor,
  COMPONENTS,
  configOf,
  FILE,
  fileMachine,
  KUBELETS,
  RUNTIMES,
  rulesOf,
  runtime,
  TO,
} from './bed.ts';

const [KUBELET, NEXT_KUBELET] = KUBELETS as [MachineComponent, MachineComponent];
const CURRENT = configOf('a = 1');
const DESIRED = configOf('a = 2');
const ORDER = { version: TO, paths: [FILE] };

/** Counts how often a version is read or resolved. */
function counted(rules: EntryRules): { readonly rules: EntryRules; readonly reads: () => number } {
  let reads = 0;
  const { specOf, resolve, versionsOf } = rules;
  return {
    reads: () => reads,
    rules: {
      ...rules,
      specOf: (...asked) => count(() => specOf(...asked)),
      resolve: (...asked) => count(() => resolve(...asked)),
      versionsOf: (...asked) => count(() => versionsOf(...asked)),
    },
  };

  function count<T>(read: () => T): T {
    reads += 1;
    return read();
  }
}

function refsOf(found: ReturnType<typeof targetEntries>): string {
  return typeof found === 'string' ? found : found.map(({ componentRef }) => componentRef).join(' ');
}

function withParameter(machine: Machine): Machine {
  const components = machine.spec.components.map((entry) => ({ ...entry, parameters: { level: 'debug' } }));
  return { ...machine, spec: { ...machine.spec, components } };
}

describe('createFindTargets', () => {
  it('CAP-17 compares the versions once for all machines with the same components', () => {
    const { rules, reads } = counted(rulesOf());
    const find = createFindTargets(bootstrapFiles(DESIRED), rules);
    expect(refsOf(find(fileMachine(1), ORDER))).toBe('runtime-2 kubelet-1.34.2');
    const forOne = reads();
    for (let n = 2; n <= 500; n += 1) {
      expect(refsOf(find(fileMachine(n), ORDER))).toBe('runtime-2 kubelet-1.34.2');
    }
    expect(reads()).toBe(forOne);
  });

  it.each<[name: string, second: Machine, components: readonly MachineComponent[], config: object]>([
    ['another version', fileMachine(2, { components: [RUNTIMES[1], KUBELET] }), COMPONENTS, DESIRED],
    ['another kubelet', fileMachine(2, { components: [RUNTIMES[0], NEXT_KUBELET] }), COMPONENTS, DESIRED],
    ['other parameters', withParameter(fileMachine(2)), COMPONENTS, DESIRED],
    ['no component of the file', fileMachine(2, { components: [KUBELET] }), COMPONENTS, DESIRED],
    [
      'its name in the file',
      fileMachine(2),
      [RUNTIMES[0], runtime('2', 'a = ${machine.name}\n'), runtime('3', 'a = node-1\n'), ...KUBELETS],
      configOf('a = node-1'),
    ],
  ])(
    'CAP-17 finds the same as for one machine alone, for a machine with %s',
    (_, second, components, config) => {
      const [rules, files] = [rulesOf(components), bootstrapFiles(config)];
      const find = createFindTargets(files, rules);
      for (const machine of [fileMachine(1), second, fileMachine(1)]) {
        expect(find(machine, ORDER)).toEqual(targetEntries(machine, ORDER, files, rules));
      }
    },
  );

  it('CAP-17 finds other entries for another order, and a reason that names its machine', () => {
    const find = createFindTargets(bootstrapFiles(DESIRED), rulesOf());
    expect(refsOf(find(fileMachine(1), ORDER))).toBe('runtime-2 kubelet-1.34.2');
    expect(refsOf(find(fileMachine(2), { version: undefined, paths: [FILE] }))).toBe('runtime-2');
    expect(refsOf(find(fileMachine(3), { version: undefined, paths: [] }))).toBe('');
    const without = [4, 5].map((n) => find(fileMachine(n, { components: [] }), ORDER));
    expect(without).toEqual([4, 5].map((n) => `no component of node-${n} has file ${FILE}`));
  });

  it('CAP-17 is how a MachineSet of 500 machines is judged', () => {
    // The rules of a single machine are still asked about each: they depend on its Node.
    expect(readsFor(500)).toBe(readsFor(1));
  });
});

/** Counts the reads for a MachineSet of this size. */
function readsFor(replicas: number): number {
  const known = counted(rulesOf());
  const selector = { all: false, matchLabels: { pool: 'general' }, matchExpressions: [] };
  const set = { selector, replicas };
  const machines = Array.from({ length: replicas }, (_, n) => fileMachine(n, { config: CURRENT }));
  const question = { current: askedFor(CURRENT, undefined, set), desired: askedFor(DESIRED, TO, set) };
  expect(planCover(question, facts(machines, { rules: known.rules })).type).toBe('Covered');
  return known.reads();
}
