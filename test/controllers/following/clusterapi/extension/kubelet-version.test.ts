import { describe, expect, it } from 'vitest';
import type { Machine, MachineComponentSpec } from '../../../../../src/api/generated/types.ts';
import {
  type AskedEntry,
  type EntryRules,
  kubeletEntry,
} from '../../../../../src/controllers/following/clusterapi/extension/kubelet-version.ts';
import { entryOf, OLD, rules, updatable } from './facts.ts';

type Spec = Pick<MachineComponentSpec, 'component' | 'identity' | 'parameters'>;

const KUBELET: Spec = { component: 'kubelet', identity: 'None', parameters: [] };

/** Returns what is asked of the rules, with these MachineComponents. */
function askedFor(
  specs: Readonly<Record<string, Spec>>,
  version: string,
  machine: Machine = updatable(1),
): AskedEntry | string {
  let asked: AskedEntry | undefined;
  const withSpecs: EntryRules = {
    ...rules(),
    specOf: (ref) => specs[ref] as MachineComponentSpec | undefined,
    resolve: (entry) => {
      asked = entry;
      return 'resolved';
    },
  };
  const found = kubeletEntry(machine, version, withSpecs);
  return asked ?? (typeof found === 'string' ? found : found.componentRef);
}

function withMaxPods(maxPods: string): Machine {
  return updatable(1, { spec: { components: [{ ...entryOf(OLD), parameters: { maxPods, own: 'x' } }] } });
}

describe('kubeletEntry', () => {
  it.each(['v1.35.0', '1.35.0'])(
    'finds the component of %s, named with and without the letter',
    (version) => {
      for (const ref of ['kubelet-1.35.0', 'kubelet-v1.35.0']) {
        expect(askedFor({ [OLD.componentRef]: KUBELET, [ref]: KUBELET }, version)).toMatchObject({
          componentRef: ref,
        });
      }
    },
  );

  it('takes a component of another name for the kubelet by its identity', () => {
    const spec: Spec = { component: 'node', identity: 'Kubelet', parameters: [] };
    const machine = updatable(1, {
      spec: { components: [{ ...entryOf(OLD), name: 'node', componentRef: 'node-1' }] },
    });
    expect(askedFor({ 'node-1': spec, 'node-2': spec }, 'v2', machine)).toMatchObject({
      name: 'node',
      componentRef: 'node-2',
    });
    expect(askedFor({ 'node-1': { ...spec, identity: 'None' } }, 'v2', machine)).toBe(
      'node-1 has no component that is its kubelet',
    );
  });

  it('keeps the parameters that were set, and leaves the defaults of the version before to the next one', () => {
    const parameter = {
      name: 'maxPods',
      description: '',
      default: '110',
    } as MachineComponentSpec['parameters'][number];
    const specs = { [OLD.componentRef]: { ...KUBELET, parameters: [parameter] }, 'kubelet-2': KUBELET };
    expect(askedFor(specs, 'v2', withMaxPods('110'))).toMatchObject({ parameters: { own: 'x' } });
    expect(askedFor(specs, 'v2', withMaxPods('50'))).toMatchObject({
      parameters: { maxPods: '50', own: 'x' },
    });
  });

  it('finds none that is removed, of another component, or that does not exist', () => {
    const removed = updatable(1, { spec: { components: [{ ...entryOf(OLD), state: 'Absent' }] } });
    expect(askedFor({ [OLD.componentRef]: KUBELET }, 'v2', removed)).toContain('has no component');
    const other: Spec = { ...KUBELET, component: 'proxy' };
    expect(askedFor({ [OLD.componentRef]: KUBELET, 'kubelet-2': other }, 'v2')).toBe(
      'no MachineComponent is kubelet v2',
    );
  });
});
