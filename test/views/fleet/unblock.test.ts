import { describe, expect, it } from 'vitest';
import { DENY_REASONS } from '../../../src/api/deny-reasons.ts';
import { denialHint, hintBeside, unblockHint } from '../../../src/views/fleet/unblock.ts';

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
    [{ reason: 'Freeze' }, 'no action required: it goes on when the freeze ends'],
    [{ reason: 'InvalidWindow' }, 'commit a time zone that exists, such as Europe/Berlin'],
    [{ reason: 'NotObservedYet' }, 'run kubenode controllers for this cluster'],
    [
      { reason: 'NoToken', blocker: { kind: 'Machine', name: 'm-1' } },
      'kubenode machine token m-1, and start the agent of its host with it: docs/guides/join-a-machine.md',
    ],
    [
      { reason: 'ProviderMissing', blocker: { kind: 'Provider', name: 'local' } },
      'run kubenode controllers with the options of provider local: kubenode controllers --help',
    ],
    [{ reason: 'SomethingNew' }, 'what is named above has to change'],
    [{ reason: 'constructor' }, 'what is named above has to change'],
    [{ reason: 'Held' }, 'kubenode machine release <machine>'],
  ])('%j', (wait, hint) => {
    expect(unblockHint(wait, 'base')).toBe(hint);
  });
});

describe('hintBeside', () => {
  it.each<[string, string]>([
    [
      'kubenode why machine m-1',
      'kubenode machine show m-1 lists its conditions, and what its agent reports of each component',
    ],
    [
      'no action required once the Defender permits it: kubenode why machine m-1',
      'no action required once the Defender permits it: kubenode machine show m-1',
    ],
    ['kubenode why machine m-2', 'kubenode why machine m-2'],
    ['kubenode machine token m-1', 'kubenode machine token m-1'],
  ])('never leads back to `kubenode why machine`: %s', (hint, expected) => {
    expect(hintBeside('m-1', hint)).toBe(expected);
  });
});

describe('denialHint', () => {
  it.each(DENY_REASONS)('R29 tells what ends the denial %s, with a command, a commit or time', (reason) => {
    const hint = denialHint(reason, 'm-1');
    expect(hint).toMatch(/^[a-z].{20,}[^.]$/);
    expect(hint).not.toMatch(/MACHINE|what is named above/);
    expect(unblockHint({ reason })).not.toBe(unblockHint({ reason: 'SomethingNew' }));
  });

  it('names the machine that the person has to decide about', () => {
    expect(denialHint('ApprovalPending', 'm-1')).toBe(
      'kubenode defender approve m-1 --reason TEXT, or kubenode defender refuse m-1 --reason TEXT',
    );
  });
});
