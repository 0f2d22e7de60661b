import { describe, expect, it } from 'vitest';
import {
  isCordoned,
  isEstablished,
  readinessOf,
  readyTransition,
} from '../../../src/api/machine/node-state.ts';
import { ago, machine, node } from '../../support/builders.ts';

const TAINTED = { ...node('n'), spec: { taints: [{ key: 'kubenode.dev/not-initialized' }] } };

describe('the state of a Node', () => {
  it.each([
    ['Ready', node('n', 'True'), 'Ready'],
    ['not Ready', node('n', 'False'), 'NotReady'],
    ['Unknown', node('n', 'Unknown'), 'Unknown'],
    ['a Node that reports nothing', { ...node('n'), status: {} }, 'Unknown'],
    ['a Node that was deleted', undefined, 'NotReady'],
  ] as const)('has a readiness: %s', (_what, its, readiness) => {
    expect(readinessOf(its)).toBe(readiness);
  });

  it('knows when the readiness changed by the clock that wrote it', () => {
    expect(readyTransition(node('n', 'Unknown'))).toEqual(new Date(ago(3600)));
    expect(readyTransition(undefined)).toBeUndefined();
  });

  it('is established once the start-up taint is removed, also after its Node was deleted', () => {
    expect(isEstablished(machine('n'), node('n'))).toBe(true);
    expect(isEstablished(machine('n'), TAINTED)).toBe(false);
    expect(isEstablished(machine('n'), undefined)).toBe(false);
    expect(isEstablished(machine('n', { status: { node: { uid: 'u' } } }), undefined)).toBe(true);
  });

  it('ROL-11 stays established when its Node registers again, or is deleted', () => {
    const known = machine('n', { status: { node: { establishedAt: ago(60) } } });
    expect(isEstablished(known, TAINTED)).toBe(true);
    expect(isEstablished(known, undefined)).toBe(true);
  });

  it('knows a cordon', () => {
    expect(isCordoned({ ...node('n'), spec: { unschedulable: true } })).toBe(true);
    expect(isCordoned(node('n'))).toBe(false);
    expect(isCordoned(undefined)).toBe(false);
  });
});
