import { describe, expect, it } from 'vitest';
import { unblockHint } from '../../../src/cli/fleet/unblock.ts';

describe('unblockHint', () => {
  it.each([
    [{ reason: 'Paused' }, 'kubenode rollout resume base'],
    [{ reason: 'Held', blocker: { kind: 'Machine', name: 'm-1' } }, 'kubenode machine release m-1'],
    [{ reason: 'SomethingNew', blocker: { kind: 'Machine', name: 'm-1' } }, 'kubenode why machine m-1'],
    [
      { reason: 'SomethingNew', blocker: { kind: 'DefenderPolicy', name: 'p' } },
      'kubectl describe defenderpolicy p',
    ],
    [
      { reason: 'SomethingNew', blocker: { kind: 'Pod', namespace: 'shop', name: 'cart-0' } },
      'kubectl -n shop describe pod cart-0',
    ],
    [{ reason: 'SomethingNew' }, 'what is named above has to change'],
    [{ reason: 'constructor' }, 'what is named above has to change'],
    [{ reason: 'Held' }, 'kubenode machine release <machine>'],
  ])('%j', (wait, hint) => {
    expect(unblockHint(wait, 'base')).toBe(hint);
  });
});
